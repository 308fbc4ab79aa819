// Asks whoever is signed in to prove again that it is they: with a passkey, or a recovery code.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { asking } from "../fresh";
import { t } from "../messages";
import { canPasskeys, use, type Ceremony } from "../passkeys";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";

export function Freshen() {
  const done = useCell(asking);
  return done && <Asked done={done} />;
}

function Asked({ done }: { done: (fresh: boolean) => void }) {
  const { passkeys = 0, codes_left: codes = 0 } = session.person?.doors ?? {};
  const [code, setCode] = useState("");
  const byPasskey = useDoing();
  const byCode = useDoing();
  const show = (): void =>
    byPasskey.run(async () => {
      const { data } = await ask<Ceremony>("/console/fresh/begin", { method: "POST" });
      await ask("/console/fresh/finish", { method: "POST", body: { ceremony: data.ceremony, response: await use(data) } });
      done(true);
    });
  const send = byCode.submit(async () => {
    await ask("/console/fresh/finish", { method: "POST", body: { code: code.trim() } });
    done(true);
  });
  const offers = passkeys > 0 && canPasskeys();
  return (
    <Dialog title={t.fresh.title} onClose={() => done(false)}>
      <p>{t.fresh.why}</p>
      {offers && (
        <>
          <ErrorNote error={byPasskey.error} />
          <button type="button" class="button" disabled={byPasskey.busy} onClick={show}>
            {byPasskey.busy ? t.doors.waiting : t.fresh.passkey}
          </button>
        </>
      )}
      {codes > 0 && (
        <details open={!offers}>
          <summary>{t.fresh.withCode}</summary>
          <form onSubmit={send} noValidate>
            <Field label={t.doors.code} name="fresh-code" autoComplete="off" spellcheck={false} hint={t.fresh.codeHint} value={code} onInput={(event) => setCode(event.currentTarget.value)} />
            <ErrorNote error={byCode.error} />
            <button type="submit" class="quiet" disabled={byCode.busy || code.trim() === ""}>
              {t.fresh.useCode}
            </button>
          </form>
        </details>
      )}
      {!offers && codes === 0 && <p class="note">{t.fresh.none}</p>}
      <button type="button" class="quiet" onClick={() => done(false)}>
        {t.words.cancel}
      </button>
    </Dialog>
  );
}
