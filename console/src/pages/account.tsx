// One's own data: to take along, and to have erased.
import { ask, send } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { ErrorNote } from "../parts/note";
import { save } from "../parts/save";
import { useAsk, useDoing } from "../parts/use";
import type { Erasure } from "../types";

const erasure = "/v1/users/me/erasure";

/** For a key that may manage keys. */
export function OwnData() {
  const { answer, error, reload } = useAsk<Erasure>(erasure);
  const download = useDoing();
  const wish = useDoing();
  const asked = answer?.data.status === "none" ? undefined : answer?.data;
  const askFor = (): void => {
    if (!confirm(t.account.confirm)) return;
    wish.run(async () => {
      await ask(erasure, { method: "POST" });
      reload();
    });
  };
  const takeBack = (): void =>
    wish.run(async () => {
      await ask(erasure, { method: "DELETE" });
      reload();
    });
  return (
    <section class="card wide" id="own-data">
      <h2>{t.account.title}</h2>
      <p>{t.account.intro}</p>
      <ErrorNote error={download.error} />
      <p>
        <button type="button" class="button" disabled={download.busy} onClick={() => download.run(keep)}>
          {download.busy ? t.account.collecting : t.account.download}
        </button>
      </p>
      <h3>{t.account.eraseTitle}</h3>
      <ErrorNote error={error} />
      <ErrorNote error={wish.error} />
      <div role="status">
        {asked && (
          <p class="note">{t.account.asked(format.time(asked.asked_at), format.time(asked.due_at))}</p>
        )}
      </div>
      {asked ? (
        <button type="button" class="button" disabled={wish.busy} onClick={takeBack}>
          {t.account.takeBack}
        </button>
      ) : (
        <>
          <p>{t.account.about((text) => <a href="/docs/privacy#being-erased">{text}</a>)}</p>
          <button type="button" class="quiet danger" disabled={wish.busy || !answer} onClick={askFor}>
            {t.account.erase}
          </button>
        </>
      )}
    </section>
  );
}

async function keep(): Promise<void> {
  const response = await send("/v1/users/me/export");
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  save(name ?? "export.zip", await response.blob());
}
