// The page of whoever is signed in: what they are called, and how they come in.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { refresh } from "../arrive";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { languages, speak, type Language } from "../messages/language";
import { Choice, Field } from "../parts/field";
import { ErrorNote, faultAt } from "../parts/note";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import type { OpenSession, Person } from "../people";
import { session } from "../session";
import { useCell } from "../state";
import { Codes, Passkeys } from "./doors";
import { Provider } from "./provider";
import { Unproven } from "./provemail";

export function MePage() {
  const who = useCell(session.who);
  const person = who?.person;
  if (!person) {
    return (
      <section class="page narrow">
        <h1>{t.app.me}</h1>
        <p class="note">{t.setUp.forPeople}</p>
      </section>
    );
  }
  return (
    <section class="page">
      <h1>{person.name || t.app.me}</h1>
      <div class="columns">
        <div>
          <Profile person={person} />
          <Seats person={person} />
        </div>
        <div>
          <Passkeys />
          <Codes />
          <Provider person={person} />
        </div>
      </div>
      <Sessions />
    </section>
  );
}

function Profile({ person }: { person: Person }) {
  const [texts, setTexts] = useState({ name: person.name, mail: person.mail });
  const [spoken, setSpoken] = useState(person.language);
  const [saved, setSaved] = useState(false);
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    setSaved(false);
    await ask("/v1/people/me", { method: "PATCH", body: { name: texts.name.trim(), mail: texts.mail.trim(), language: spoken } });
    await refresh();
    setSaved(true);
    if (spoken && spoken !== person.language && spoken in languages) speak(spoken as Language);
  });
  const field = (name: keyof typeof texts) => ({
    value: texts[name],
    fault: faultAt(error, name),
    onInput: (event: { currentTarget: HTMLInputElement }) => {
      setSaved(false);
      setTexts({ ...texts, [name]: event.currentTarget.value });
    },
  });
  return (
    <form class="card" onSubmit={send} noValidate>
      <h2>{t.me.title}</h2>
      <Field label={t.me.name} name="name" autoComplete="name" maxLength={50} hint={t.me.nameHint} {...field("name")} />
      <Field label={t.me.mail} name="mail" type="email" autoComplete="email" maxLength={254} hint={t.me.mailHint} {...field("mail")} />
      {person.mail && !person.mail_confirmed && <Unproven key={person.mail} />}
      <Choice label={t.me.language} name="language" value={spoken} options={[["", t.me.ofNetwork], ...Object.entries(languages)]} onChange={setSpoken} fault={faultAt(error, "language")} />
      <ErrorNote error={error} at={["name", "mail", "language"]} />
      <div class="line">
        <button type="submit" class="button" disabled={busy || texts.name.trim() === ""}>
          {t.words.save}
        </button>
        <span role="status">{saved ? t.words.saved : ""}</span>
      </div>
    </form>
  );
}

/** The accounts and the posts that someone has. */
function Seats({ person }: { person: Person }) {
  return (
    <section class="card">
      <h2>{t.me.seats}</h2>
      <ul class="plain">
        {person.memberships.map(({ account, account_name: name, role, since }) => (
          <li key={account}>
            <strong>{name || t.app.unnamed(format.shortId(account))}</strong>
            <span class="small block">{t.members.row(t.roles[role], format.day(since.slice(0, 10)))}</span>
          </li>
        ))}
        {person.posts.map((post) => (
          <li key={post}>
            <strong>{t.posts[post]}</strong>
            <span class="small block">{t.postIs[post]}</span>
          </li>
        ))}
      </ul>
      {person.memberships.length + person.posts.length === 0 && <p class="hint">{t.me.noSeats}</p>}
    </section>
  );
}

const path = "/v1/people/me/sessions";

function Sessions() {
  const { answer, error, reload } = useAsk<OpenSession[]>(path);
  const ending = useDoing();
  const open = answer?.data ?? [];
  const end = (id: string): void =>
    ending.run(async () => {
      await ask(id ? `${path}/${encodeURIComponent(id)}` : path, { method: "DELETE" });
      reload();
    });
  const endOthers = (): void => {
    if (confirm(t.sessions.confirm)) end("");
  };
  return (
    <section class="card wide" id="sessions">
      <h2>{t.sessions.title}</h2>
      <p>{t.sessions.about}</p>
      <ErrorNote error={error} />
      <ErrorNote error={ending.error} />
      {open.length > 0 && (
        <Table label={t.sessions.title} columns={[[t.sessions.device], [t.sessions.door, "spare"], [t.sessions.since, "spare"], [t.keys.lastUsed, "spare"], [t.keys.state, "action"]]}>
          {open.map(({ id, device, door, created_at: since, last_used_at: used, current }) => (
            <tr key={id}>
              <th scope="row">
                {device || t.sessions.unknown}
                {current && <span class="small">{t.sessions.current}</span>}
                <span class="small instead">{t.sessions.row(doorName(door), format.ago(used, now()))}</span>
              </th>
              <td class="spare">{doorName(door)}</td>
              <td class="spare">{format.time(since)}</td>
              <td class="spare">{current ? t.keys.justNow : format.ago(used, now())}</td>
              <td class="action">
                {!current && (
                  <button type="button" class="quiet danger" disabled={ending.busy} onClick={() => end(id)}>
                    {t.sessions.end} <span class="sr-only">{device}</span>
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {open.length > 1 && (
        <button type="button" class="quiet danger" disabled={ending.busy} onClick={endOthers}>
          {t.sessions.endOthers}
        </button>
      )}
    </section>
  );
}

const doorName = (door: string): string => (t.sessions.doors as Record<string, string>)[door] ?? door;
