// Where the address leads that a server prints while there is no key.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { t } from "../messages";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { CreatedKey, Key } from "../types";
import { NetworkIdentity } from "./identity";
import { ShownOnce } from "./newkey";
import { RecommendPrivacy } from "./privacy";

export function FirstKeyPage({ token }: { token: string }) {
  const who = useCell(session.who); // signed in a moment after the key is shown
  const [made, setMade] = useState<CreatedKey>();
  const { busy, error, run } = useDoing();
  const create = (): void =>
    run(async () => {
      const { data } = await ask<CreatedKey>("/console/first-key", { method: "POST", body: { token }, key: "" });
      // The token is used up: it need not stay in the history.
      history.replaceState(null, "", "#/first-key");
      setMade(data);
      session.begin(data.key, (await ask<Key>("/v1/keys/self", { key: data.key })).data);
    });
  return (
    <section class="page narrow">
      <h1>{t.firstKey.title}</h1>
      <div class="card">
        {made ? (
          <>
            <ShownOnce made={made} />
            <p>{t.firstKey.signedIn}</p>
            {who && <NetworkIdentity brief />}
            <RecommendPrivacy />
            <p>
              <a class="button" href="#/staff">
                {t.firstKey.goToStaff}
              </a>
            </p>
          </>
        ) : (
          <>
            <p>{t.firstKey.intro}</p>
            <ErrorNote error={error} />
            <button type="button" class="button" disabled={busy} onClick={create}>
              {busy ? t.firstKey.creating : t.firstKey.create}
            </button>
          </>
        )}
      </div>
    </section>
  );
}
