// Invitations: to an account with a role, to the network with posts, or to a new account. A link
// is shown once, to copy and as a picture.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { Check, Choice, Field } from "../parts/field";
import { ErrorNote, faultAt } from "../parts/note";
import { ShownLink } from "../parts/qr";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { posts, type Invitation, type OneTimeLink, type Post, type Role } from "../people";
import { session } from "../session";
import type { Hotspot } from "../types";
import { useDoors } from "./doors";

/** What an invitation is to, in words. */
function isTo({ role, posts: given, account_name: name, hotspots }: Invitation, ofNetwork: boolean): string {
  if (given.length > 0) return given.map((post) => t.posts[post]).join(", ");
  if (ofNetwork || role === "") return name ? t.invitations.newNamed(name) : t.invitations.newAccount;
  return hotspots.length > 0 ? t.invitations.withHotspots(t.roles[role], hotspots.length, format.count(hotspots.length)) : t.roles[role];
}

/** Those that nobody has accepted yet. */
function Pending({ path, version, ofNetwork = false }: { path: string; version: number; ofNetwork?: boolean }) {
  const { answer, error, reload } = useAsk<Invitation[]>(path, version);
  const revocation = useDoing();
  const pending = answer?.data ?? [];
  const revoke = ({ id }: Invitation): void => {
    if (!confirm(t.invitations.confirm)) return;
    revocation.run(async () => {
      await ask(`${path}/${encodeURIComponent(id)}`, { method: "DELETE" });
      reload();
    });
  };
  return (
    <>
      <ErrorNote error={error} />
      <ErrorNote error={revocation.error} />
      {answer && <p role="status">{pending.length === 0 ? t.invitations.none : t.invitations.count(pending.length, format.count(pending.length))}</p>}
      {pending.length > 0 && (
        <Table label={t.invitations.title} columns={[[t.invitations.to], [t.invitations.by, "spare"], [t.invitations.end, "spare"], [t.keys.state, "action"]]}>
          {pending.map((invitation) => (
            <tr key={invitation.id}>
              <th scope="row">
                {isTo(invitation, ofNetwork)}
                <span class="small instead">{t.invitations.row(invitation.invited_by || "–", format.time(invitation.expires_at))}</span>
              </th>
              <td class="spare">{invitation.invited_by || "–"}</td>
              <td class="spare">{format.time(invitation.expires_at)}</td>
              <td class="action">
                <button type="button" class="quiet danger" disabled={revocation.busy} onClick={() => revoke(invitation)}>
                  {t.keys.revoke} <span class="sr-only">{isTo(invitation, ofNetwork)}</span>
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

const ends: [string, string][] = [1, 7, 30].map((days) => [String(days), t.invitations.days(days)]);

interface Making {
  busy: boolean;
  error: unknown;
  made: OneTimeLink | undefined;
  make: (body: () => object) => (event: Event) => void;
  mail: string;
  setMail: (mail: string) => void;
}

function useMaking(path: string, onMade: () => void): Making {
  const [made, setMade] = useState<OneTimeLink>();
  const [mail, setMail] = useState("");
  const { busy, error, submit } = useDoing();
  const make = (body: () => object) =>
    submit(async () => {
      setMade(undefined);
      setMade((await ask<OneTimeLink>(path, { method: "POST", body: { ...body(), ...(mail.trim() && { mail: mail.trim() }) } })).data);
      onMade();
    });
  return { busy, error, made, make, mail, setMail };
}

/** Where the network sends mail: an address to which the link goes, too. */
function MailTo({ mail, setMail, error }: Making) {
  if (!useDoors()?.mail) return null;
  return (
    <Field
      label={t.doors.mail}
      name="mail"
      type="email"
      maxLength={254}
      autoComplete="off"
      hint={t.invitations.mailHint}
      value={mail}
      fault={faultAt(error, "mail")}
      onInput={(event) => setMail(event.currentTarget.value)}
    />
  );
}

const Made = ({ of }: { of: OneTimeLink | undefined }) => (
  <div aria-live="polite">{of && <ShownLink title={t.invitations.once} link={of.link} hint={t.invitations.worksUntil(format.time(of.expires_at))} />}</div>
);

/** People of an account: those who are invited, and a form for others. */
export function Invitations({ account, give }: { account: string; give: readonly Role[] }) {
  const path = `/v1/users/${encodeURIComponent(account)}/invitations`;
  const [version, setVersion] = useState(0);
  const [role, setRole] = useState<Role>("viewer");
  const [hotspots, setHotspots] = useState<string[]>([]);
  const [days, setDays] = useState("7");
  const making = useMaking(path, () => setVersion((n) => n + 1));
  const { busy, error, made, make } = making;
  const wanted = give.includes(role) ? role : (give.at(-1) ?? "viewer");
  return (
    <section class="card wide" id="invitations">
      <h2>{t.invitations.title}</h2>
      <Pending path={path} version={version} />
      <form onSubmit={make(() => ({ role: wanted, ...(wanted === "installer" && { hotspots }), expires_in_days: Number(days) }))} noValidate>
        <h3>{t.invitations.invite}</h3>
        <div class="line">
          <Choice label={t.invitations.role} name="role" value={wanted} options={give.map((one) => [one, t.roles[one]])} onChange={(next) => setRole(next as Role)} fault={faultAt(error, "role")} />
          <Choice label={t.invitations.valid} name="days" value={days} options={ends} onChange={setDays} fault={faultAt(error, "expires_in_days")} />
        </div>
        <p class="hint sentence">{t.roleIs[wanted]}</p>
        {wanted === "installer" && <Assign account={account} chosen={hotspots} onChoose={setHotspots} fault={faultAt(error, "hotspots")} />}
        <MailTo {...making} />
        <ErrorNote error={error} at={["role", "expires_in_days", "hotspots", "mail"]} />
        <button type="submit" class="button" disabled={busy}>
          {t.invitations.create}
        </button>
        <Made of={made} />
      </form>
    </section>
  );
}

/** Which hotspots an installer sees to. */
export function Assign({ account, chosen, onChoose, fault = "" }: { account: string; chosen: readonly string[]; onChoose: (ids: string[]) => void; fault?: string }) {
  const own = account === session.who.value?.user_id;
  const [text, setText] = useState("");
  const path = `/v1/users/${own ? "me" : encodeURIComponent(account)}/hotspots?per_page=100${text.trim() && `&q=${encodeURIComponent(text.trim())}`}`;
  const { answer, error } = useAsk<Hotspot[]>(path);
  const hotspots = answer?.data ?? [];
  const total = answer?.pagination?.total ?? hotspots.length;
  const hidden = chosen.filter((id) => !hotspots.some((hotspot) => hotspot.id === id)).length;
  return (
    <fieldset>
      <legend>{t.invitations.assigned}</legend>
      {(total > 10 || text) && <Field label={t.words.name} type="search" name="assign-search" autoComplete="off" value={text} maxLength={50} onInput={(event) => setText(event.currentTarget.value)} />}
      <ErrorNote error={error} />
      {answer && hotspots.length === 0 && <p class="hint">{t.invitations.noHotspots}</p>}
      <div class="checks assign">
        {hotspots.map(({ id, name }) => (
          <Check key={id} label={name} name="assigned" value={id} checked={chosen.includes(id)} onChange={(on) => onChoose(on ? [...chosen, id] : chosen.filter((one) => one !== id))} />
        ))}
      </div>
      {hidden > 0 && <p class="hint">{t.invitations.others(hidden, format.count(hidden))}</p>}
      {fault && <p class="fault">{fault}</p>}
    </fieldset>
  );
}

/** A form that invites to posts of the network, or someone with hotspots to a new account. */
export function InviteStaff({ onMade = () => undefined }: { onMade?: () => void }) {
  const [kind, setKind] = useState("staff");
  const [given, setGiven] = useState<Post[]>(["verifier"]);
  const [name, setName] = useState("");
  const [days, setDays] = useState("7");
  const making = useMaking("/v1/invitations", onMade);
  const { busy, error, made, make } = making;
  const body = () => ({ ...(kind === "staff" ? { posts: given } : { account: "new", ...(name.trim() && { account_name: name.trim() }) }), expires_in_days: Number(days) });
  return (
    <form onSubmit={make(body)} noValidate>
      <h2>{t.invitations.invite}</h2>
      <div class="line">
        <Choice label={t.invitations.whom} name="kind" value={kind} options={Object.entries(t.invitations.kinds)} onChange={setKind} />
        <Choice label={t.invitations.valid} name="days" value={days} options={ends} onChange={setDays} />
      </div>
      {kind === "staff" ? (
        <PostChecks given={given} onGive={setGiven} fault={faultAt(error, "posts")} />
      ) : (
        <Field
          label={t.account.name}
          name="account-name"
          maxLength={50}
          autoComplete="off"
          hint={t.doors.accountHint}
          value={name}
          fault={faultAt(error, "account_name")}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      )}
      <MailTo {...making} />
      <ErrorNote error={error} at={["posts", "account_name", "mail"]} />
      <button type="submit" class="button" disabled={busy || (kind === "staff" && given.length === 0)}>
        {t.invitations.create}
      </button>
      <Made of={made} />
    </form>
  );
}

/** The posts of the network, each with what it is for. */
export function PostChecks({ given, onGive, fault = "" }: { given: readonly Post[]; onGive: (posts: Post[]) => void; fault?: string }) {
  return (
    <fieldset>
      <legend>{t.staffPeople.posts}</legend>
      {posts.map((post) => (
        <label class="check post" key={post}>
          <input type="checkbox" name="posts" value={post} checked={given.includes(post)} onChange={(event) => onGive(posts.filter((one) => (one === post ? event.currentTarget.checked : given.includes(one))))} />
          <span>
            <strong>{t.posts[post]}</strong> <span class="small">{t.postIs[post]}</span>
          </span>
        </label>
      ))}
      {fault && <p class="fault">{fault}</p>}
    </fieldset>
  );
}

/** Invitations to the network, for staff. */
export function StaffInvitations() {
  const [version, setVersion] = useState(0);
  return (
    <section class="card wide" id="invitations">
      <h2>{t.invitations.title}</h2>
      <Pending path="/v1/invitations" version={version} ofNetwork />
      <InviteStaff onMade={() => setVersion((n) => n + 1)} />
    </section>
  );
}
