// The keys of one's own user, or everyone's for admin.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { Check, Field } from "../parts/field";
import { ErrorNote, faultAt } from "../parts/note";
import { Pager } from "../parts/pager";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import { OwnData } from "./account";
import type { CreatedKey, Key, Scope } from "../types";

const scopes: Scope[] = ["hotspots:write", "hotspots:verify", "rewards:read", "checkins:write", "keys:manage", "admin"];

/** For operators, who see to their own keys and to nothing else of what staff do. */
export function KeysPage() {
  return (
    <section class="page">
      <h1>{t.keys.title}</h1>
      {session.may("keys:manage") ? (
        <>
          <Keys />
          <OwnData />
        </>
      ) : (
        <p class="note">{t.words.askForScope("keys:manage")}</p>
      )}
    </section>
  );
}

export function Keys() {
  const [page, setPage] = useState(1);
  const { answer, error, reload } = useAsk<Key[]>(`/v1/keys?per_page=20&page=${page}`);
  const revocation = useDoing();
  const revoke = (key: Key): void => {
    const question = key.id === session.who.value?.id ? t.keys.confirmOwn : t.keys.confirm;
    if (!confirm(question(key.name || key.id))) return;
    revocation.run(async () => {
      await ask(`/v1/keys/${key.id}`, { method: "DELETE" });
      reload();
    });
  };
  return (
    <section class="card wide">
      <NewKey onCreated={reload} />
      <ErrorNote error={error} />
      <ErrorNote error={revocation.error} />
      <Table label={t.keys.keys} columns={[[t.words.name], [t.keys.user, "spare"], [t.keys.scopes], [t.keys.lastUsed, "spare"], [t.keys.state, "action"]]}>
        {answer?.data.map((key) => {
          const own = key.id === session.who.value?.id;
          const lastUsed = own ? t.keys.justNow : format.ago(key.last_used_at, now());
          return (
            <tr key={key.id}>
              <th scope="row">
                {key.name || t.keys.noName}
                {own && <span class="small">{t.keys.thisKey}</span>}
                <span class="small instead">{t.keys.lastUsedAt(format.shortId(key.user_id), lastUsed)}</span>
              </th>
              <td class="spare" title={key.user_id}>
                <code>{format.shortId(key.user_id)}</code>
              </td>
              <td>{key.scopes.join(", ") || t.keys.readOnly}</td>
              <td class="spare">{lastUsed}</td>
              <td class="action">
                {stateOf(key) || (
                  <button type="button" class="quiet danger" disabled={revocation.busy} onClick={() => revoke(key)}>
                    {t.keys.revoke} <span class="sr-only">{key.name || key.id}</span>
                  </button>
                )}
              </td>
            </tr>
          );
        })}
      </Table>
      <Pager pagination={answer?.pagination} onPage={setPage} />
    </section>
  );
}

function stateOf(key: Key): string {
  if (key.revoked_at) return t.keys.revoked(format.time(key.revoked_at));
  if (key.expires_at && Date.parse(key.expires_at) < now()) return t.keys.expired(format.time(key.expires_at));
  return "";
}

function NewKey({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<Scope[]>([]);
  const [newUser, setNewUser] = useState(false);
  const [made, setMade] = useState<CreatedKey>();
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    const body = { name, scopes: chosen, ...(newUser && { user_id: "new" }) };
    setMade((await ask<CreatedKey>("/v1/keys", { method: "POST", body })).data);
    setName("");
    onCreated();
  });
  return (
    <form onSubmit={send} noValidate>
      <h2>{t.keys.createKey}</h2>
      <Field label={t.words.name} name="key-name" value={name} onInput={(event) => setName(event.currentTarget.value)} fault={faultAt(error, "name")} />
      <fieldset>
        <legend>{t.keys.scopes}</legend>
        <div class="checks">
          {scopes
            .filter((scope) => session.may(scope))
            .map((scope) => (
              <Check
                key={scope}
                label={scope}
                value={scope}
                checked={chosen.includes(scope)}
                onChange={(checked) => setChosen(scopes.filter((s) => (s === scope ? checked : chosen.includes(s))))}
              />
            ))}
        </div>
      </fieldset>
      {session.may("admin") && <Check label={t.keys.forNewUser} name="new-user" checked={newUser} onChange={setNewUser} />}
      <ErrorNote error={error} at={["name"]} />
      <button type="submit" class="button" disabled={busy}>
        {t.keys.create}
      </button>
      <div aria-live="polite">
        {made && <ShownOnce made={made} />}
      </div>
    </form>
  );
}

/** A new key, which nobody can see again. */
export function ShownOnce({ made }: { made: CreatedKey }) {
  const [copied, setCopied] = useState("");
  return (
    <div class="note good">
      <p>{t.keys.once(made.name)}</p>
      <p>
        <code class="secret">{made.key}</code>
      </p>
      {"clipboard" in navigator && (
        <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(made.key).then(() => setCopied(made.id))}>
          {copied === made.id ? t.keys.copied : t.keys.copy}
        </button>
      )}
    </div>
  );
}
