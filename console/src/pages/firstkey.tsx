// Where the address leads that a server prints while there is nobody: to the first admin, and from
// there through what a new network needs. Where browsers cannot stay signed in, to a first key.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { t } from "../messages";
import { language } from "../messages/language";
import { canPasskeys, isSecure } from "../passkeys";
import { Field } from "../parts/field";
import { DoorNote } from "../parts/doornote";
import { ErrorNote, faultAt } from "../parts/note";
import { useDoing } from "../parts/use";
import type { Begun } from "../people";
import { go } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { CreatedKey, Key } from "../types";
import { useDoors } from "./doors";
import { NetworkIdentity } from "./identity";
import { ShownOnce } from "./newkey";
import { RecommendPrivacy } from "./privacy";
import { networkSteps, Progress } from "./setup";
import { NoPasskeys } from "./signin";

export function FirstKeyPage({ token }: { token: string }) {
  const [made, setMade] = useState<CreatedKey>();
  const doors = useDoors();
  // A session of a person needs a cookie that only https, or this machine, may set.
  if (made || !isSecure()) return <FirstKey token={token} made={made} onMade={setMade} />;
  return (
    <section class="page narrow">
      <Progress step={1} of={networkSteps(!!doors?.passkeys && canPasskeys())} />
      <h1>{t.firstAdmin.title}</h1>
      <FirstAdmin token={token} />
      {doors && <NoPasskeys doors={doors} />}
      <details class="card door">
        <summary>{t.firstAdmin.orKey}</summary>
        <MakeKey token={token} onMade={setMade} />
      </details>
    </section>
  );
}

function FirstAdmin({ token }: { token: string }) {
  const [name, setName] = useState("");
  const { busy, error, submit } = useDoing();
  const create = submit(async () => {
    const { data } = await ask<Begun>("/console/first-admin", { method: "POST", body: { token, name: name.trim(), language }, key: "" });
    // The token is used up: it need not stay in the history.
    history.replaceState(null, "", "#/first-key");
    session.enter(data.person);
    go("/set-up");
  });
  return (
    <form class="card" onSubmit={create} noValidate>
      <p>{t.firstAdmin.intro}</p>
      <Field
        label={t.me.name}
        name="name"
        autoComplete="name"
        maxLength={50}
        hint={t.me.nameHint}
        value={name}
        fault={faultAt(error, "name")}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <DoorNote error={error} refused={t.firstAdmin.used} at={["name"]} />
      <button type="submit" class="button" disabled={busy || name.trim() === ""}>
        {busy ? t.firstAdmin.creating : t.setUp.next}
      </button>
    </form>
  );
}

interface KeyProps {
  token: string;
  onMade: (key: CreatedKey) => void;
}

function MakeKey({ token, onMade }: KeyProps) {
  const { busy, error, run } = useDoing();
  const create = (): void =>
    run(async () => {
      const { data } = await ask<CreatedKey>("/console/first-key", { method: "POST", body: { token }, key: "" });
      // The token is used up: it need not stay in the history.
      history.replaceState(null, "", "#/first-key");
      onMade(data);
      session.begin(data.key, (await ask<Key>("/v1/keys/self", { key: data.key })).data);
    });
  return (
    <>
      <p>{t.firstKey.intro}</p>
      <ErrorNote error={error} />
      <button type="button" class="button" disabled={busy} onClick={create}>
        {busy ? t.firstKey.creating : t.firstKey.create}
      </button>
    </>
  );
}

function FirstKey({ made, ...props }: KeyProps & { made: CreatedKey | undefined }) {
  const who = useCell(session.who); // signed in a moment after the key is shown
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
            <p class="note">{t.firstAdmin.insecure}</p>
            <MakeKey {...props} />
          </>
        )}
      </div>
    </section>
  );
}
