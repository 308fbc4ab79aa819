import { useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { Field } from "../parts/field";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import { go, route } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Key } from "../types";

export function SignInPage() {
  const [key, setKey] = useState("");
  const notice = useCell(session.notice);
  const [stay, setStay] = useState(false);
  const { busy, error, run } = useDoing();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      if (stay) {
        session.stay((await ask<Key>("/console/session", { method: "POST", key: key.trim(), cookie: true })).data);
      } else {
        session.begin(key.trim(), (await ask<Key>("/v1/keys/self", { key: key.trim() })).data);
      }
      if (route.value.page === "sign-in") go("/");
    });
  };
  const refused = error instanceof ApiError && error.status === 401;
  return (
    <section class="page narrow">
      <h1>Sign in</h1>
      {notice && <p class="note">{notice}</p>}
      <form class="card" onSubmit={submit} noValidate>
        <Field
          label="API key"
          type="password"
          name="key"
          autoComplete="off"
          spellcheck={false}
          required
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          fault={refused ? "This key is not valid. Check it, or ask for a new one." : ""}
          hint={`It looks like bcn_… and ${stay ? "is not kept: this browser gets a cookie in its place." : "is kept only in this tab, until you close it or sign out."}`}
        />
        <label class="check">
          <input type="checkbox" name="stay" checked={stay} onChange={(event) => setStay(event.currentTarget.checked)} />
          Stay signed in on this device, for 30 days
        </label>
        {error && !refused ? <ErrorNote error={error} /> : null}
        <button type="submit" class="button" disabled={busy || key.trim() === ""}>
          {busy ? "Checking…" : "Sign in"}
        </button>
      </form>
      <p class="hint">
        The network's staff give you a key. If you run the server, create one with <code>beacon keys create --user new --scopes admin</code>, in the
        folder of its database. Without a key you see the <a href="#/">preview</a>: a fixed set of hotspots in New York.
      </p>
      <p class="small">
        <a href={licences()}>Licences</a> of what this page is made of.
      </p>
    </section>
  );
}

function licences(): string {
  return document.querySelector<HTMLLinkElement>('link[rel="license"]')?.href ?? "";
}
