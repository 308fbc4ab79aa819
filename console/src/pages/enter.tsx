// Where a one-time link leads, from the mail or from a colleague. It works once, so it waits for a
// press: programs that look at links before people do must not use it up.
import { ask } from "../api";
import { arrive } from "../arrive";
import { t } from "../messages";
import { isSecure } from "../passkeys";
import { DoorNote } from "../parts/doornote";
import { useDoing } from "../parts/use";
import type { Begun } from "../people";
import { session } from "../session";
import { useCell } from "../state";

export function EnterPage({ token }: { token: string }) {
  const who = useCell(session.who);
  const { busy, error, run } = useDoing();
  const enter = (): void =>
    run(async () => {
      const { data } = await ask<Begun>("/console/links/use", { method: "POST", body: { token }, key: "" });
      // The token is used up: it need not stay in the history.
      history.replaceState(null, "", "#/enter");
      arrive(data);
    });
  return (
    <section class="page narrow">
      <h1>{t.app.signIn}</h1>
      <div class="card">
        {token && !isSecure() ? (
          <p class="note">{t.doors.insecureLink}</p>
        ) : token ? (
          <>
            <p>{who ? t.link.already(who.name) : t.enter.once}</p>
            <DoorNote error={error} />
            <button type="button" class="button" disabled={busy} onClick={enter}>
              {busy ? t.link.doing : who ? t.link.instead : t.app.signIn}
            </button>
          </>
        ) : (
          <p>{t.enter.used}</p>
        )}
        {(error || !token || !isSecure()) && (
          <p>
            <a href="#/sign-in">{t.enter.others}</a>
          </p>
        )}
      </div>
    </section>
  );
}
