// Where a link leads that signs a browser in, once. The token is behind the #, which browsers
// send to nobody; only this page takes it to the server, when a person sees it.
import { useEffect } from "preact/hooks";
import { ask } from "../api";
import { t } from "../messages";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import { go } from "../router";
import { whenSeen } from "../seen";
import { session } from "../session";
import { useCell } from "../state";
import type { CreatedKey, Key } from "../types";

export function LinkPage({ token }: { token: string }) {
  const who = useCell(session.who);
  const { busy, error, run } = useDoing();
  const signIn = (): void =>
    run(async () => {
      const { data } = await ask<CreatedKey>("/console/sign-in", { method: "POST", body: { token }, key: "" });
      // The token is used up: it need not stay in the history.
      history.replaceState(null, "", "#/sign-in");
      session.begin(data.key, (await ask<Key>("/v1/keys/self", { key: data.key })).data);
      go(session.may("overview") ? "/staff" : "/hotspots");
    });
  // Who is signed in already is asked first.
  useEffect(() => (session.who.value ? undefined : whenSeen(signIn)), [token]);
  return (
    <section class="page narrow">
      <h1>{t.app.signIn}</h1>
      <div class="card">
        <ErrorNote error={error} />
        {error ? (
          <p>
            <a class="button" href="#/sign-in">
              {t.link.key}
            </a>
          </p>
        ) : who && !busy ? (
          <>
            <p>{t.link.already(who.name)}</p>
            <button type="button" class="button" onClick={signIn}>
              {t.link.instead}
            </button>
          </>
        ) : (
          <p role="status">{t.link.doing}</p>
        )}
      </div>
    </section>
  );
}
