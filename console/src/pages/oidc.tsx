// Where a provider of OpenID Connect sends people back to.
import { useEffect } from "preact/hooks";
import { ask } from "../api";
import { arrive } from "../arrive";
import { t } from "../messages";
import { leftPage, takeSaid } from "../oidc";
import { DoorNote } from "../parts/doornote";
import { useDoing } from "../parts/use";
import type { Begun } from "../people";
import { go } from "../router";
import { session } from "../session";

export function OidcPage() {
  const { busy, error, run } = useDoing();
  useEffect(() => {
    const query = takeSaid();
    if (!query) return;
    const left = leftPage();
    run(async () => {
      const { data } = await ask<Begun>("/console/oidc/finish", { method: "POST", body: { query }, key: "" });
      if (!left) return arrive(data);
      session.enter(data.person);
      go(left);
    });
  }, []);
  return (
    <section class="page narrow">
      <h1>{t.app.signIn}</h1>
      <div class="card">
        <DoorNote error={error} refused={t.enter.oidcRefused} />
        {busy ? (
          <p role="status">{t.link.doing}</p>
        ) : (
          <p>
            <a class="button" href="#/sign-in">
              {t.enter.others}
            </a>
          </p>
        )}
      </div>
    </section>
  );
}
