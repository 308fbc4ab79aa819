// The people of an account, and what each of them may do there.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { firstPage, refresh } from "../arrive";
import * as format from "../format";
import { t } from "../messages";
import { Choice, Field } from "../parts/field";
import { Lacks } from "../parts/lacks";
import { ErrorNote, faultAt } from "../parts/note";
import { ShownLink } from "../parts/qr";
import { useAsk, useDoing } from "../parts/use";
import type { Member, Members as Listed, OneTimeLink, Role } from "../people";
import { rolesToGive } from "../permissions";
import { go } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import { OffersReceived } from "./handover";
import { WhoMayWhat } from "./maywhat";
import { Assign, Invitations } from "./invitations";

export function AccountPage() {
  const who = useCell(session.who);
  const account = who?.user_id ?? "";
  return (
    <section class="page">
      {account && session.may("member_list") ? (
        <People account={account} />
      ) : (
        <>
          <h1>{t.app.account}</h1>
          {account ? <Lacks of="member_list" ask /> : <p class="note">{t.members.noAccount}</p>}
        </>
      )}
    </section>
  );
}

/** All about the people of an account: of one's own, or for admins of any. */
function People({ account }: { account: string }) {
  const { answer, error, reload } = useAsk<Listed>(membersOf(account));
  const give = session.who.value ? rolesToGive(session.who.value, account) : [];
  return (
    <>
      <h1>{answer?.data.name || t.app.account}</h1>
      <ErrorNote error={error} />
      {!answer && !error && <p class="waiting">{t.words.wait}</p>}
      {answer && (
        <>
          <p class="hint">{t.members.id(<code class="id">{account}</code>)}</p>
          <OffersReceived />
          <MemberList account={account} members={answer.data.items} give={give} onChanged={reload} />
          {give.length > 0 && <Invitations account={account} give={give} />}
          {give.length > 0 && <NameForm account={account} name={answer.data.name} onChanged={reload} />}
          {session.person && (session.may("keys") || session.may("leaving")) && (
            <section class="card">
              <h2>{t.members.keysAndData}</h2>
              <p>{t.members.keysText}</p>
              <a class="quiet" href="#/keys">
                {t.members.keysLink}
              </a>
            </section>
          )}
          <WhoMayWhat />
        </>
      )}
    </>
  );
}

const membersOf = (account: string): string => `/v1/users/${encodeURIComponent(account)}/members`;

/** For the page of an operator: who acts for them. */
export function AccountPeople({ account }: { account: string }) {
  const { answer, error, reload } = useAsk<Listed>(membersOf(account));
  const give = session.who.value ? rolesToGive(session.who.value, account) : [];
  return (
    <>
      <ErrorNote error={error} />
      {answer && (
        <>
          {answer.data.name && <p class="lead">{answer.data.name}</p>}
          <MemberList account={account} members={answer.data.items} give={give} onChanged={reload} />
          {give.length > 0 && <Invitations account={account} give={give} />}
        </>
      )}
    </>
  );
}

function NameForm({ account, name: is, onChanged }: { account: string; name: string; onChanged: () => void }) {
  const [name, setName] = useState(is);
  const [saved, setSaved] = useState(false);
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    setSaved(false);
    await ask(`/v1/users/${encodeURIComponent(account)}`, { method: "PATCH", body: { name: name.trim() } });
    await refresh();
    setSaved(true);
    onChanged();
  });
  return (
    <form class="card" onSubmit={send} noValidate>
      <h2>{t.account.name}</h2>
      <Field
        label={t.words.name}
        name="account-name"
        maxLength={50}
        autoComplete="organization"
        hint={t.members.nameHint}
        value={name}
        fault={faultAt(error, "name")}
        onInput={(event) => {
          setSaved(false);
          setName(event.currentTarget.value);
        }}
      />
      <ErrorNote error={error} at={["name"]} />
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          {t.words.save}
        </button>
        <span role="status">{saved ? t.words.saved : ""}</span>
      </div>
    </form>
  );
}

interface ListProps {
  account: string;
  members: Member[];
  give: readonly Role[];
  onChanged: () => void;
}

function MemberList({ account, members, give, onChanged }: ListProps) {
  const [opened, setOpened] = useState("");
  const own = session.person?.id;
  const owners = members.filter(({ role, suspended }) => role === "owner" && !suspended).length; // the last one cannot leave
  return (
    <section class="card wide" id="members">
      <h2>{t.members.title}</h2>
      {members.length === 0 && <p>{t.members.none}</p>}
      <ul class="people">
        {members.map((member) => {
          const self = member.person === own;
          const may = !self && give.includes(member.role);
          return (
            <li key={member.person}>
              <div class="line between">
                <div>
                  <strong>{member.name || t.keys.noName}</strong>
                  {self && <span class="small">{t.members.you}</span>}
                  <span class="small block">
                    {t.members.row(t.roles[member.role], format.day(member.since.slice(0, 10)))}
                    {member.role === "installer" && ` · ${t.words.hotspotCount(member.hotspots.length, format.count(member.hotspots.length))}`}
                    {member.suspended && ` · ${t.members.suspended}`}
                  </span>
                  {member.link_until && <span class="small block">{t.members.linked(format.time(member.link_until))}</span>}
                  {member.frozen_until && <span class="small block">{t.members.recovered(format.time(member.frozen_until))}</span>}
                </div>
                {may && (
                  <button type="button" class="quiet" aria-expanded={opened === member.person} onClick={() => setOpened(opened === member.person ? "" : member.person)}>
                    {t.members.change} <span class="sr-only">{member.name}</span>
                  </button>
                )}
                {self && !(member.role === "owner" && owners === 1) && <Leave account={account} />}
              </div>
              {may && opened === member.person && <Change key={member.person} account={account} member={member} give={give} onChanged={onChanged} />}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Leave({ account }: { account: string }) {
  const { busy, error, run } = useDoing();
  const leave = (): void => {
    if (!confirm(t.members.confirmLeave)) return;
    run(async () => {
      await ask(`${membersOf(account)}/me`, { method: "DELETE" });
      await refresh();
      go(firstPage());
    });
  };
  return (
    <div>
      <ErrorNote error={error} />
      <button type="button" class="quiet danger" disabled={busy} onClick={leave}>
        {t.members.leave}
      </button>
    </div>
  );
}

function Change({ account, member, give, onChanged }: { account: string; member: Member; give: readonly Role[]; onChanged: () => void }) {
  const path = `${membersOf(account)}/${encodeURIComponent(member.person)}`;
  const [role, setRole] = useState(member.role);
  const [hotspots, setHotspots] = useState(member.hotspots);
  const [saved, setSaved] = useState(false);
  const [link, setLink] = useState<OneTimeLink>();
  const { busy, error, submit, run } = useDoing();
  const send = submit(async () => {
    setSaved(false);
    await ask(path, { method: "PATCH", body: { role, ...(role === "installer" && { hotspots }) } });
    setSaved(true);
    onChanged();
  });
  const remove = (): void => {
    if (!confirm(t.members.confirmRemove(member.name))) return;
    run(async () => {
      await ask(path, { method: "DELETE" });
      onChanged();
    });
  };
  const create = (): void => {
    if (!confirm(t.members.confirmLink(member.name))) return;
    run(async () => setLink((await ask<OneTimeLink>(`${path}/link`, { method: "POST" })).data));
  };
  return (
    <form class="inset" onSubmit={send} noValidate>
      <Choice
        label={t.invitations.role}
        name={`role-${member.person}`}
        value={role}
        options={give.map((one) => [one, t.roles[one]])}
        onChange={(next) => {
          setSaved(false);
          setRole(next as Role);
        }}
        fault={faultAt(error, "role")}
      />
      <p class="hint sentence">{t.roleIs[role]}</p>
      {role === "installer" && <Assign account={account} chosen={hotspots} onChoose={setHotspots} fault={faultAt(error, "hotspots")} />}
      <ErrorNote error={error} at={["role", "hotspots"]} />
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          {t.words.save}
        </button>
        <button type="button" class="quiet" disabled={busy} onClick={create}>
          {t.members.link}
        </button>
        <button type="button" class="quiet danger" disabled={busy} onClick={remove}>
          {t.words.remove}
        </button>
        <span role="status">{saved ? t.words.saved : ""}</span>
      </div>
      {link && <ShownLink title={t.members.linkOnce(member.name)} link={link.link} hint={t.invitations.worksUntil(format.time(link.expires_at))} />}
    </form>
  );
}

