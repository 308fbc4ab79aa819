// One's own data: to take along, and to have erased.
import { ask, send } from "../api";
import * as format from "../format";
import { ErrorNote } from "../parts/note";
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
    if (!confirm("Have all your data erased in 30 days? Until then you can take it back. Then your keys stop working and your hotspots are deleted.")) return;
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
      <h2>Your data</h2>
      <p>Everything that is stored of you, as an archive of text files.</p>
      <ErrorNote error={download.error} />
      <p>
        <button type="button" class="button" disabled={download.busy} onClick={() => download.run(save)}>
          {download.busy ? "Collecting…" : "Download"}
        </button>
      </p>
      <h3>Have it erased</h3>
      <ErrorNote error={error} />
      <ErrorNote error={wish.error} />
      <div role="status">
        {asked && (
          <p class="note">
            You asked for it on {format.time(asked.asked_at)}. From {format.time(asked.due_at)} on your keys stop working, your hotspots are
            deleted, and what says who you are is erased.
          </p>
        )}
      </div>
      {asked ? (
        <button type="button" class="button" disabled={wish.busy} onClick={takeBack}>
          Take it back
        </button>
      ) : (
        <>
          <p>
            After 30 days, in which you can take it back. What was earned stays in the books, without your name;{" "}
            <a href="/docs/privacy#being-erased">what is erased when, and what stays</a>. Download your data and your statements before.
          </p>
          <button type="button" class="quiet danger" disabled={wish.busy || !answer} onClick={askFor}>
            Erase my data
          </button>
        </>
      )}
    </section>
  );
}

async function save(): Promise<void> {
  const response = await send("/v1/users/me/export");
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "export.zip";
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
