// Where the address leads that a server prints while there is no key.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import { session } from "../session";
import type { CreatedKey, Key } from "../types";
import { ShownOnce } from "./keys";
import { RecommendPrivacy } from "./privacy";

export function FirstKeyPage({ token }: { token: string }) {
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
      <h1>Create the first key</h1>
      <div class="card">
        {made ? (
          <>
            <ShownOnce made={made} />
            <p>You are signed in with it, in this tab.</p>
            <RecommendPrivacy />
            <p>
              <a class="button" href="#/staff">
                Go to the staff page
              </a>
            </p>
          </>
        ) : (
          <>
            <p>This network has no key yet. The first one may do everything; with it you create the others.</p>
            <ErrorNote error={error} />
            <button type="button" class="button" disabled={busy} onClick={create}>
              {busy ? "Creating…" : "Create the key"}
            </button>
          </>
        )}
      </div>
    </section>
  );
}
