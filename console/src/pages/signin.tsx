import { useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { t } from "../messages";
import { Check, Field } from "../parts/field";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import { isPublic, network } from "../head";
import { go, route } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Key } from "../types";

export function SignInPage() {
  const [key, setKey] = useState("");
  const notice = useCell(session.notice);
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
    <section class="page narrow">
      {isPublic() ? <h1>{t.app.signIn}</h1> : <Welcome />}
      {notice && <p class="note">{notice}</p>}
      <form class="card" onSubmit={send} noValidate>
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
        <Check label={t.signIn.stay} name="stay" checked={stay} onChange={setStay} />
        {error && !refused ? <ErrorNote error={error} /> : null}
        <button type="submit" class="button" disabled={busy || key.trim() === ""}>
          {busy ? t.signIn.checking : t.app.signIn}
        </button>
      </form>
      <p class="hint">
        {t.signIn.help(<code>beacon keys invite</code>)}
        {isPublic() && t.signIn.publicMap((text) => <a href="/#/">{text}</a>)} {t.signIn.preview((text) => <a href="/preview">{text}</a>)}
      </p>
      <p class="small">{t.signIn.licences((text) => <a href={licences()}>{text}</a>)}</p>
    </section>
  );
}

/** What strangers see of a private network: who it is, and whom to ask. */
function Welcome() {
  const { name, description, contact, contact_link = "" } = useCell(network);
  return (
    <>
      <h1>{t.signIn.welcome(name)}</h1>
      {description && <p class="lead">{description}</p>}
      <p>
        {t.signIn.private}
        {contact && t.signIn.ask(<a href={contact_link}>{contact}</a>)}
      </p>
    </>
  );
}

function licences(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="license"]')?.href ?? "";
}
