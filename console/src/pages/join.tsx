// Where an invitation leads: who invites to what, and accepting it.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { language } from "../messages/language";
import { isSecure } from "../passkeys";
import { Field } from "../parts/field";
import { DoorNote } from "../parts/doornote";
import { faultAt } from "../parts/note";
import { useDoing } from "../parts/use";
import type { Begun, Invited } from "../people";
import { go } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import { useDoors } from "./doors";
import { ToProvider } from "./provider";
import { People } from "./signin";

export function JoinPage({ token }: { token: string }) {
  const who = useCell(session.who);
  const [invited, setInvited] = useState<Invited>();
  const [name, setName] = useState("");
  const reading = useDoing();
  const provider = useDoors()?.oidc?.name;
  const { busy, error, submit } = useDoing();
  useEffect(() => {
    if (token) reading.run(async () => setInvited((await ask<Invited>("/console/invitations/read", { method: "POST", body: { token }, key: "" })).data));
  }, [token]);
  const is = who?.person;
  const accept = submit(async () => {
    const body = is ? { token } : { token, name: name.trim(), language };
    const { data } = await ask<Begun>("/console/invitations/accept", { method: "POST", body, key: "" });
    // The token is used up: it need not stay in the history.
    history.replaceState(null, "", "#/join");
    session.enter(data.person);
    const joined = data.person.memberships.find(({ account }) => account === invited?.account);
    if (joined) session.act(joined.account);
    go(is ? (joined ? "/account" : "/staff") : "/welcome");
  });
  return (
    <section class="page narrow">
      <h1>{t.join.title}</h1>
      <div class="card">
        <DoorNote error={reading.error} />
        {reading.busy && <p class="waiting">{t.words.wait}</p>}
        {!token && <p>{t.join.used}</p>}
        {(reading.error || !token) && <p>{t.join.another}</p>}
        {invited && !isSecure() && <p class="note">{t.doors.insecureLink}</p>}
        {invited && isSecure() && (
          <>
            <p class="lead">{t.join.to(invited.account_name || invited.network)}</p>
            <ul class="plain">
              {invited.invited_by && <li>{t.join.by(invited.invited_by)}</li>}
              <li>{invited.account_name ? t.join.of(invited.network) : t.join.network}</li>
              <li>{invited.role ? `${t.roles[invited.role]}: ${t.roleIs[invited.role]}` : (invited.posts ?? []).map((post) => `${t.posts[post]}: ${t.postIs[post]}`).join("; ")}</li>
              <li class="small">{t.join.until(format.time(invited.expires_at))}</li>
            </ul>
            <form onSubmit={accept} noValidate>
              {is ? (
                <p>{t.join.as(is.name)}</p>
              ) : (
                <Field
                  label={t.me.name}
                  name="name"
                  autoComplete="name"
                  maxLength={50}
                  hint={t.me.nameHint}
                  value={name}
                  fault={faultAt(error, "name")}
                  onInput={(event) => setName(event.currentTarget.value)}
                />
              )}
              <DoorNote error={error} at={["name"]} />
              <button type="submit" class="button" disabled={busy || (!is && name.trim() === "")}>
                {busy ? t.join.accepting : t.join.accept}
              </button>
            </form>
            {!is && provider && <ToProvider purpose="sign-in" invitation={token} verb={t.provider.accept(provider)} />}
            {!who && <BeenHere />}
          </>
        )}
      </div>
    </section>
  );
}

/** For those who are known here: once they are signed in, they accept as who they are. */
function BeenHere() {
  const [open, setOpen] = useState(false);
  const doors = useDoors();
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.join.beenHere}</summary>
      {open && doors && <People doors={doors} />}
    </details>
  );
}
