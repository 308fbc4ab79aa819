// Asks whoever is signed in to prove again that it is they: with a passkey, or a recovery code.
import { useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { asking } from "../fresh";
import { t } from "../messages";
import { canPasskeys, use, type Ceremony } from "../passkeys";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { DoorNote } from "../parts/doornote";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import { useDoors } from "./doors";
import { ToProvider } from "./provider";

export function Freshen() {
  const done = useCell(asking);
  return done && <Asked done={done} />;
}

function Asked({ done }: { done: (fresh: boolean) => void }) {
  const { passkeys = 0, codes_left: codes = 0, oidc = false } = session.person?.doors ?? {};
  const doors = useDoors();
  const provider = oidc ? doors?.oidc?.name : undefined;
  const byPasskey = useDoing();
  const show = (): void =>
    byPasskey.run(async () => {
      const { data } = await ask<Ceremony>("/console/fresh/begin", { method: "POST" });
      await ask("/console/fresh/finish", { method: "POST", body: { ceremony: data.ceremony, response: await use(data) }, key: "" });
      done(true);
    });
  const offers = passkeys > 0 && canPasskeys();
  return (
    <Dialog title={t.fresh.title} onClose={() => done(false)}>
      <p>{t.fresh.why}</p>
      {offers && (
        <>
          <DoorNote error={byPasskey.error} refused={t.fresh.refused} />
          <button type="button" class="button" disabled={byPasskey.busy} onClick={show}>
            {byPasskey.busy ? t.doors.waiting : t.fresh.passkey}
          </button>
        </>
      )}
      {codes > 0 &&
        (offers ? (
          <details>
            <summary>{t.fresh.withCode}</summary>
            <CodeForm onDone={() => done(true)} />
          </details>
        ) : (
          <CodeForm onDone={() => done(true)} />
        ))}
      {provider && (
        <>
          <p class="hint">{t.provider.comeBack}</p>
          <ToProvider purpose="fresh" verb={t.provider.again(provider)} />
        </>
      )}
      {!offers && codes === 0 && !provider && <p class="note">{t.fresh.none}</p>}
      <button type="button" class="quiet" onClick={() => done(false)}>
        {t.words.cancel}
      </button>
    </Dialog>
  );
}

function CodeForm({ onDone }: { onDone: () => void }) {
  const [code, setCode] = useState("");
  const { busy, error, submit } = useDoing();
  const refused = error instanceof ApiError && error.status === 401;
  const send = submit(async () => {
    // Of a code that is wrong, the server says what it says of a key: the session goes on.
    await ask("/console/fresh/finish", { method: "POST", body: { code: code.trim() }, key: "" });
    onDone();
  });
  return (
    <form onSubmit={send} noValidate>
      <Field
        label={t.fresh.withCode}
        name="fresh-code"
        autoComplete="off"
        spellcheck={false}
        hint={t.fresh.codeHint}
        value={code}
        fault={refused ? t.doors.codeRefused : ""}
        onInput={(event) => setCode(event.currentTarget.value)}
      />
      {error && !refused ? <ErrorNote error={error} /> : null}
      <button type="submit" class="quiet" disabled={busy || code.trim() === ""}>
        {t.fresh.useCode}
      </button>
    </form>
  );
}
