// The people of the network, for admins: their posts, and what happens when one of them is lost.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { Field, SearchField } from "../parts/field";
import { Facts } from "../parts/facts";
import { useListing } from "../parts/listing";
import { ErrorNote, faultAt } from "../parts/note";
import { Pager } from "../parts/pager";
import { ShownLink } from "../parts/qr";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import type { OneTimeLink, Person, PersonListed, Post } from "../people";
import { go } from "../router";
import { session } from "../session";
import { PostChecks, StaffInvitations } from "./invitations";
import { StaffMayWhat } from "./maywhat";
import { Desk } from "./staff";

export function StaffPeoplePage({ id }: { id: string }) {
  return (
    <Desk at="/people" title={t.staff.people} needs="people">
      {id ? (
        <One key={id} id={id} />
      ) : (
        <>
          <List />
          <StaffInvitations />
          <StaffMayWhat />
        </>
      )}
    </Desk>
  );
}

/** What someone is here, in a line. */
const seats = ({ posts, memberships }: PersonListed): string =>
  [...posts.map((post) => t.posts[post]), ...memberships.map(({ account, role }) => t.staffPeople.at(t.roles[role], format.shortId(account)))].join(", ");

function List() {
  const list = useListing<PersonListed>("/v1/people", {}, 0, "search");
  const { answer, error } = list;
  return (
    <section class="card wide">
      <SearchField label={t.words.name} value={list.text} onSearch={list.search} />
      <ErrorNote error={error} />
      {!answer && !error && <p class="waiting">{t.words.wait}</p>}
      <p role="status">{answer && (answer.data.length === 0 ? t.staffPeople.none : t.words.inAll(format.count(answer.pagination?.total ?? answer.data.length)))}</p>
      {answer && answer.data.length > 0 && (
        <Table label={t.staff.people} columns={[[t.words.name], [t.staffPeople.seats, "spare"], [t.keys.state, "spare"]]}>
          {answer.data.map((person) => (
            <tr key={person.id}>
              <th scope="row">
                <a href={`#/staff/people/${person.id}`}>{person.name || format.shortId(person.id)}</a>
                <span class="small instead">{seats(person)}</span>
                {person.suspended_at && <span class="small instead">{t.members.suspended}</span>}
              </th>
              <td class="spare">{seats(person)}</td>
              <td class="spare">{person.suspended_at ? t.members.suspended : t.staffPeople.active}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pager pagination={answer?.pagination} onPage={list.turn} />
    </section>
  );
}

function One({ id }: { id: string }) {
  const path = `/v1/people/${encodeURIComponent(id)}`;
  const { answer, error, reload } = useAsk<Person>(path);
  const person = answer?.data;
  if (!person) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const self = person.id === session.person?.id;
  return (
    <>
      <p>
        <a href="#/staff/people">{t.staffPeople.all}</a>
      </p>
      <h2>{person.name || format.shortId(person.id)}</h2>
      {person.suspended_at && <p class="note bad">{t.staffPeople.isSuspended}</p>}
      <div class="columns">
        <section class="card">
          <h3>{t.staffPeople.facts}</h3>
          <Facts
            of={[
              [t.me.mail, person.mail || "–"],
              [t.staffPeople.since, format.day(person.created_at.slice(0, 10))],
              [t.staffPeople.id, <code class="id">{person.id}</code>],
            ]}
          />
          <h3>{t.staffPeople.accounts}</h3>
          {person.memberships.length === 0 && <p class="hint">{t.staffPeople.noAccounts}</p>}
          <ul class="plain">
            {person.memberships.map(({ account, account_name: name, role }) => (
              <li key={account}>
                <a href={`#/staff/operators/${account}`}>{name || format.shortId(account)}</a>
                <span class="small block">{t.roles[role]}</span>
              </li>
            ))}
          </ul>
          <p>
            <a href={`#/staff/audit?target=${person.id}`}>{t.staffPeople.audit}</a>
          </p>
        </section>
        <div>
          <PostsForm person={person} path={path} self={self} onChanged={reload} />
          {self ? <p class="note">{t.staffPeople.self}</p> : <Danger person={person} path={path} onChanged={reload} />}
        </div>
      </div>
    </>
  );
}

interface Props {
  person: Person;
  path: string;
  onChanged: () => void;
}

function PostsForm({ person, path, self, onChanged }: Props & { self: boolean }) {
  const [given, setGiven] = useState<Post[]>(person.posts);
  const [saved, setSaved] = useState(false);
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    await ask(path, { method: "PATCH", body: { posts: given } });
    setSaved(true);
    onChanged();
  });
  return (
    <form class="card" onSubmit={send} noValidate>
      <PostChecks
        given={given}
        onGive={(next) => {
          setSaved(false);
          setGiven(next);
        }}
        fault={faultAt(error, "posts")}
      />
      <ErrorNote error={error} at={["posts"]} />
      {!self && (
        <div class="line">
          <button type="submit" class="button" disabled={busy}>
            {t.words.save}
          </button>
          <span role="status">{saved ? t.words.saved : ""}</span>
        </div>
      )}
    </form>
  );
}

/** What locks people in or out. */
function Danger({ person, path, onChanged }: Props) {
  const [link, setLink] = useState<OneTimeLink>();
  const linking = useDoing();
  const suspension = useDoing();
  const create = (): void => {
    if (!confirm(t.members.confirmLink(person.name))) return;
    linking.run(async () => setLink((await ask<OneTimeLink>(`${path}/link`, { method: "POST" })).data));
  };
  const suspend = (suspended: boolean): void => {
    if (suspended && !confirm(t.staffPeople.confirmSuspend(person.name))) return;
    suspension.run(async () => {
      await ask(path, { method: "PATCH", body: { suspended } });
      onChanged();
    });
  };
  return (
    <>
      <section class="card">
        <h3>{t.staffPeople.link}</h3>
        <p>{t.staffPeople.linkText}</p>
        <ErrorNote error={linking.error} />
        <button type="button" class="quiet" disabled={linking.busy} onClick={create}>
          {t.members.link}
        </button>
        {link && <ShownLink title={t.members.linkOnce(person.name)} link={link.link} hint={t.invitations.worksUntil(format.time(link.expires_at))} />}
      </section>
      <section class="card">
        <h3>{person.suspended_at ? t.staffPeople.restore : t.staffPeople.suspend}</h3>
        <p>{t.staffPeople.suspendText}</p>
        <ErrorNote error={suspension.error} />
        <button type="button" class={person.suspended_at ? "button" : "quiet danger"} disabled={suspension.busy} onClick={() => suspend(!person.suspended_at)}>
          {person.suspended_at ? t.staffPeople.restoreThem : t.staffPeople.suspendThem}
        </button>
      </section>
      <Erase person={person} path={path} />
    </>
  );
}

/** Erased for good: their name is typed, so that nobody does it by a slip. */
function Erase({ person, path }: { person: Person; path: string }) {
  const [typed, setTyped] = useState("");
  const { busy, error, submit } = useDoing();
  const word = person.name || person.id;
  const send = submit(async () => {
    await ask(path, { method: "DELETE" });
    go("/staff/people");
  });
  return (
    <form class="card" onSubmit={send} noValidate>
      <h3>{t.staffPeople.erase}</h3>
      <p>{t.staffPeople.eraseText}</p>
      <Field label={t.staffPeople.typeName(word)} name="erase-name" autoComplete="off" spellcheck={false} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      <ErrorNote error={error} />
      <button type="submit" class="quiet danger" disabled={busy || typed.trim() !== word.trim()}>
        {t.staffPeople.eraseThem}
      </button>
    </form>
  );
}
