// How a person comes in next time: passkeys, and recovery codes for the day they are lost.
import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { refresh } from "../arrive";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { deviceName, make, type Ceremony } from "../passkeys";
import { Field } from "../parts/field";
import { ErrorNote, faultAt } from "../parts/note";
import { Copy } from "../parts/qr";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import type { Doors, Passkey } from "../people";
import { askBeforeLeaving } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import { canPasskeys } from "../passkeys";
import { NoPasskeys } from "./signin";

/** Which doors there are; undefined while it is not known. */
export function useDoors(): Doors | undefined {
  return useAsk<Doors>("/console/doors").answer?.data;
}

/** A form that makes a passkey on this device. */
export function NewPasskey({ onMade, verb = t.passkeys.create }: { onMade: () => void; verb?: string }) {
  const [name, setName] = useState(deviceName());
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    const { data } = await ask<Ceremony>("/console/passkeys/begin", { method: "POST" });
    const response = await make(data);
    await ask("/console/passkeys/finish", { method: "POST", body: { ceremony: data.ceremony, name: name.trim(), response } });
    await refresh();
    onMade();
  });
  return (
    <form onSubmit={send} noValidate>
      <Field
        label={t.passkeys.name}
        name="passkey-name"
        maxLength={50}
        autoComplete="off"
        hint={t.passkeys.nameHint}
        value={name}
        fault={faultAt(error, "name")}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <ErrorNote error={error} at={["name"]} />
      <button type="submit" class="button" disabled={busy}>
        {busy ? t.doors.waiting : verb}
      </button>
    </form>
  );
}

/** Those of whoever is signed in. */
export function Passkeys() {
  const doors = useDoors();
  const { answer, error, reload } = useAsk<Passkey[]>("/v1/people/me/passkeys");
  const [adding, setAdding] = useState(false);
  const [told, setTold] = useState("");
  const removal = useDoing();
  const passkeys = answer?.data ?? [];
  const remove = ({ id, name }: Passkey): void => {
    if (!confirm(t.passkeys.confirm(name))) return;
    removal.run(async () => {
      await ask(`/v1/people/me/passkeys/${encodeURIComponent(id)}`, { method: "DELETE" });
      await refresh();
      reload();
    });
  };
  const may = doors?.passkeys && canPasskeys();
  return (
    <section class="card wide" id="passkeys">
      <h2>{t.passkeys.title}</h2>
      <p>{t.passkeys.about}</p>
      <ErrorNote error={error} />
      <ErrorNote error={removal.error} />
      {passkeys.length > 0 && (
        <Table label={t.passkeys.title} columns={[[t.words.name], [t.passkeys.added, "spare"], [t.keys.lastUsed, "spare"], [t.keys.state, "action"]]}>
          {passkeys.map((passkey) => (
            <tr key={passkey.id}>
              <th scope="row">
                {passkey.name || t.keys.noName}
                <span class="small">{passkey.synced ? t.passkeys.synced : t.passkeys.onDevice}</span>
                <span class="small instead">{t.passkeys.used(format.ago(passkey.last_used_at, now()))}</span>
              </th>
              <td class="spare">{format.time(passkey.created_at)}</td>
              <td class="spare">{format.ago(passkey.last_used_at, now())}</td>
              <td class="action">
                <button type="button" class="quiet danger" disabled={removal.busy} onClick={() => remove(passkey)}>
                  {t.words.remove} <span class="sr-only">{passkey.name}</span>
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {answer && passkeys.length === 0 && <p class="note">{t.passkeys.none}</p>}
      {may && passkeys.length === 1 && !adding && <p class="note">{t.passkeys.second}</p>}
      <p role="status">{told}</p>
      {doors && <NoPasskeys doors={doors} />}
      {may && adding ? (
        <NewPasskey
          onMade={() => {
            setAdding(false);
            setTold(t.passkeys.made);
            reload();
          }}
        />
      ) : (
        may && (
          <button type="button" class={passkeys.length === 0 ? "button" : "quiet"} onClick={() => setAdding(true)}>
            {t.passkeys.add}
          </button>
        )
      )}
    </section>
  );
}

/** Makes ten codes. They count once one of them was typed back: then they are written down. */
export function NewCodes({ verb, onDone }: { verb: string; onDone: () => void }) {
  const [codes, setCodes] = useState<string[]>();
  const [typed, setTyped] = useState("");
  const making = useDoing();
  const { busy, error, submit } = useDoing();
  useEffect(() => {
    askBeforeLeaving(codes ? t.codes.leave : "");
    return () => askBeforeLeaving("");
  }, [codes]);
  const create = (): void => making.run(async () => setCodes((await ask<{ codes: string[] }>("/v1/people/me/codes", { method: "POST" })).data.codes));
  const confirmed = submit(async () => {
    await ask("/v1/people/me/codes/confirmation", { method: "POST", body: { code: typed.trim() } });
    askBeforeLeaving("");
    setCodes(undefined);
    await refresh();
    onDone();
  });
  const refused = error instanceof ApiError && [400, 401, 404, 409, 422].includes(error.status);
  if (!codes) {
    return (
      <>
        <ErrorNote error={making.error} />
        <button type="button" class="button" disabled={making.busy} onClick={create}>
          {verb}
        </button>
      </>
    );
  }
  return (
    <>
      <p>{t.codes.keep}</p>
      <ol class="codes" aria-label={t.codes.title}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div class="line">
        <Copy text={codes.join("\n")} label={t.keys.copy} done={t.codes.copied} />
        <button type="button" class="quiet" onClick={() => print()}>
          {t.codes.print}
        </button>
      </div>
      <form onSubmit={confirmed} noValidate>
        <Field
          label={t.codes.back}
          name="code-back"
          autoComplete="off"
          spellcheck={false}
          hint={t.codes.backHint}
          value={typed}
          fault={refused ? t.codes.wrong : ""}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        {error && !refused ? <ErrorNote error={error} /> : null}
        <button type="submit" class="button" disabled={busy || typed.trim() === ""}>
          {t.codes.finish}
        </button>
      </form>
    </>
  );
}

export function Codes() {
  const left = useCell(session.who)?.person?.doors.codes_left ?? 0;
  const [told, setTold] = useState("");
  return (
    <section class="card" id="codes">
      <h2>{t.codes.title}</h2>
      <p>{t.codes.about}</p>
      <p class={left === 0 ? "note" : ""}>{left === 0 ? t.codes.none : t.codes.left(left, format.count(left))}</p>
      <p role="status">{told}</p>
      <NewCodes verb={left === 0 ? t.codes.make : t.codes.renew} onDone={() => setTold(t.codes.done)} />
    </section>
  );
}
