// The doors that work here: for people, and for the holders of keys.
import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { arrive } from "../arrive";
import { t } from "../messages";
import { language } from "../messages/language";
import { canPasskeys, fillsIn, isSecure, use, type Ceremony } from "../passkeys";
import { Check, Field } from "../parts/field";
import { DoorNote } from "../parts/doornote";
import { ErrorNote, faultAt } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import type { Begun, Doors } from "../people";
import { isPublic, network } from "../head";
import { go, route } from "../router";
import { whenSeen } from "../seen";
import { session } from "../session";
import { useCell } from "../state";
import type { Key } from "../types";
import { ToProvider } from "./provider";

export function SignInPage() {
  const notice = useCell(session.notice);
  const { answer, loading } = useAsk<Doors>("/console/doors");
  const doors = answer?.data;
  return (
    <section class="page narrow">
      {isPublic() ? <h1>{t.app.signIn}</h1> : <Welcome people={!!doors?.people} />}
      {notice && <p class="note">{notice}</p>}
      {loading && !doors ? (
        <p class="waiting">{t.words.wait}</p>
      ) : doors?.people && isSecure() ? (
        <>
          <People doors={doors} />
          <details class="card door">
            <summary>{t.doors.key}</summary>
            <KeyForm />
          </details>
        </>
      ) : (
        <div class="card">
          {doors?.people && <p class="note">{t.doors.insecure}</p>}
          <KeyForm />
        </div>
      )}
      {doors?.signup === "open" && isSecure() && <SignUp />}
      <p class="hint">
        {doors?.people ? t.doors.help : t.signIn.help(<code>beacon keys invite</code>)}
        {isPublic() && (doors?.people ? t.doors.publicMap : t.signIn.publicMap)((text) => <a href="/#/">{text}</a>)} {t.signIn.preview((text) => <a href="/preview">{text}</a>)}
      </p>
      <p class="small">{t.signIn.licences((text) => <a href={licences()}>{text}</a>)}</p>
    </section>
  );
}

const offerLasts = 4 * 60_000; // milliseconds: a ceremony lasts 5 minutes

/** Has the browser offer passkeys among what it fills in, and tells of the one that was chosen. Returns what ends it. */
function offer(begin: () => Promise<Ceremony>, onChosen: (begun: Ceremony, response: unknown) => void): () => void {
  const stop = new AbortController();
  let wait = (): void => undefined;
  const next = async (): Promise<void> => {
    if (!(await fillsIn())) return;
    const begun = await begin();
    if (stop.signal.aborted) return;
    const ended = new AbortController();
    const end = (): void => ended.abort();
    stop.signal.addEventListener("abort", end);
    const timer = setTimeout(() => {
      end();
      again();
    }, offerLasts);
    const response = await use(begun, ended.signal).catch(() => undefined); // chose none
    clearTimeout(timer);
    if (response && !stop.signal.aborted) onChosen(begun, response);
  };
  // What cannot be offered is missed by nobody: the button is there.
  const again = (): void => void (wait = whenSeen(() => void next().catch(() => undefined)));
  again();
  return () => {
    stop.abort();
    wait();
  };
}

/** Signs in with the passkey that the device has for this network: nobody has to type a name. */
function PasskeyDoor() {
  const { busy, error, run } = useDoing();
  const begin = async (): Promise<Ceremony> => (await ask<Ceremony>("/console/passkeys/sign-in/begin", { method: "POST", key: "" })).data;
  const finish = async ({ ceremony }: Ceremony, response: unknown): Promise<void> =>
    arrive((await ask<Begun>("/console/passkeys/sign-in/finish", { method: "POST", body: { ceremony, response }, key: "" })).data);
  const show = (): void =>
    run(async () => {
      const begun = await begin();
      await finish(begun, await use(begun));
    });
  // Meanwhile the browser offers the passkeys where it fills in fields. A device is asked one thing at a time.
  useEffect(() => (busy || session.who.value ? undefined : offer(begin, (begun, response) => run(() => finish(begun, response)))), [busy]);
  return (
    <>
      <DoorNote error={error} refused={t.passkeys.unknown} />
      <button type="button" class="button" disabled={busy} onClick={show}>
        {busy ? t.doors.waiting : t.doors.passkey}
      </button>
    </>
  );
}

/** The address of this page with a name, where this computer has one. */
const named = (): string | undefined => (["127.0.0.1", "[::1]"].includes(location.hostname) ? location.href.replace(location.hostname, "localhost") : undefined);

/** Whether the page was opened at an address of numbers, for which there are no passkeys. */
const atAddress = (): boolean => /^[\d.]+$|^\[/.test(location.hostname);

/** Why there are no passkeys here. */
export function NoPasskeys({ doors }: { doors: Doors | undefined }) {
  if (doors?.passkeys && canPasskeys()) return null;
  const better = named();
  if (better) {
    return (
      <p class="note">
        <span>{t.doors.noPasskeysLoopback((text) => <a href={better}>{text}</a>)}</span>
      </p>
    );
  }
  const why = atAddress() ? t.doors.noPasskeysAddress : doors?.passkeys ? t.doors.noPasskeysBrowser : t.doors.noPasskeysServer;
  return <p class="note">{why}</p>;
}

/** The doors for people that there are here. */
export function People({ doors }: { doors: Doors }) {
  return (
    <div class="card doors">
      {doors.passkeys && canPasskeys() ? <PasskeyDoor /> : <NoPasskeys doors={doors} />}
      {doors.oidc && <ToProvider purpose="sign-in" verb={t.doors.oidc(doors.oidc.name)} />}
      {doors.mail && <MailDoor />}
      <details>
        <summary>{t.doors.withCode}</summary>
        <CodeDoor />
      </details>
    </div>
  );
}

/** Nobody learns here whether an address is known. */
function MailDoor() {
  const [mail, setMail] = useState("");
  const [sent, setSent] = useState("");
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    await ask("/console/links/mail", { method: "POST", body: { mail: mail.trim() }, key: "" });
    setSent(mail.trim());
  });
  return (
    <form onSubmit={send} noValidate>
      <Field label={t.doors.mail} name="mail" type="email" autoComplete="email webauthn" value={mail} fault={faultAt(error, "mail")} onInput={(event) => setMail(event.currentTarget.value)} />
      <ErrorNote error={error} at={["mail"]} />
      <p role="status">{sent && t.doors.sent(sent)}</p>
      <button type="submit" class="quiet" disabled={busy || mail.trim() === ""}>
        {t.doors.send}
      </button>
    </form>
  );
}

function CodeDoor() {
  const [code, setCode] = useState("");
  const { busy, error, submit } = useDoing();
  const refused = error instanceof ApiError && error.status === 401;
  const send = submit(async () => arrive((await ask<Begun>("/console/codes/use", { method: "POST", body: { code: code.trim() }, key: "" })).data));
  return (
    <form onSubmit={send} noValidate>
      <Field
        label={t.doors.code}
        name="code"
        autoComplete="one-time-code webauthn"
        spellcheck={false}
        hint={t.doors.codeHint}
        value={code}
        fault={refused ? t.doors.codeRefused : ""}
        onInput={(event) => setCode(event.currentTarget.value)}
      />
      {error && !refused ? <ErrorNote error={error} /> : null}
      <button type="submit" class="quiet" disabled={busy || code.trim() === ""}>
        {busy ? t.signIn.checking : t.app.signIn}
      </button>
    </form>
  );
}

function KeyForm() {
  const [key, setKey] = useState("");
  const [stay, setStay] = useState(false);
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    if (stay) {
      session.stay((await ask<Key>("/console/session", { method: "POST", key: key.trim(), cookie: true })).data);
    } else {
      session.begin(key.trim(), (await ask<Key>("/v1/keys/self", { key: key.trim() })).data);
    }
    if (route.value.page === "sign-in") go("/");
  });
  const refused = error instanceof ApiError && error.status === 401;
  return (
    <form onSubmit={send} noValidate>
      <Field
        label={t.signIn.key}
        type="password"
        name="key"
        autoComplete="off"
        spellcheck={false}
        required
        value={key}
        onInput={(event) => setKey(event.currentTarget.value)}
        fault={refused ? t.signIn.refused : ""}
        hint={stay ? t.signIn.hintStay : t.signIn.hintTab}
      />
      {isSecure() && <Check label={t.signIn.stay} name="stay" checked={stay} onChange={setStay} />}
      {error && !refused ? <ErrorNote error={error} /> : null}
      <button type="submit" class="button" disabled={busy || key.trim() === ""}>
        {busy ? t.signIn.checking : t.app.signIn}
      </button>
    </form>
  );
}

/** Where anyone may become an operator. */
function SignUp() {
  const [name, setName] = useState("");
  const [account, setAccount] = useState("");
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    const { data } = await ask<Begun>("/console/sign-up", { method: "POST", body: { name: name.trim(), language, ...(account.trim() && { account_name: account.trim() }) }, key: "" });
    session.enter(data.person);
    go("/welcome");
  });
  return (
    <details class="card door">
      <summary>{t.doors.signUp}</summary>
      <form onSubmit={send} noValidate>
        <Field label={t.me.name} name="name" autoComplete="name" value={name} fault={faultAt(error, "name")} onInput={(event) => setName(event.currentTarget.value)} />
        <Field
          label={t.account.name}
          name="account-name"
          autoComplete="organization"
          hint={t.doors.accountHint}
          value={account}
          fault={faultAt(error, "account_name")}
          onInput={(event) => setAccount(event.currentTarget.value)}
        />
        <ErrorNote error={error} at={["name", "account_name"]} />
        <button type="submit" class="button" disabled={busy || name.trim() === ""}>
          {t.doors.begin}
        </button>
      </form>
    </details>
  );
}

/** What strangers see of a private network: who it is, and whom to ask. */
function Welcome({ people }: { people: boolean }) {
  const { name, description, contact, contact_link = "" } = useCell(network);
  return (
    <>
      <h1>{t.signIn.welcome(name)}</h1>
      {description && <p class="lead">{description}</p>}
      <p>
        {people ? t.doors.private : t.signIn.private}
        {contact && t.signIn.ask(<a href={contact_link}>{contact}</a>)}
      </p>
    </>
  );
}

function licences(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="license"]')?.href ?? "";
}
