// The keys of one's own user, or everyone's for admin.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { Field } from "../parts/field";
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
      <h1>My keys</h1>
      {session.may("keys:manage") ? (
        <>
          <Keys />
          <OwnData />
        </>
      ) : (
        <p class="note">This needs a key with the scope keys:manage. Ask the network's staff for one.</p>
      )}
    </section>
  );
}

export function Keys() {
  const [page, setPage] = useState(1);
  const { answer, error, reload } = useAsk<Key[]>(`/v1/keys?per_page=20&page=${page}`);
  const revocation = useDoing();
  const revoke = (key: Key): void => {
    if (!confirm(`Revoke the key “${key.name || key.id}”? It stops working within two seconds.`)) return;
    revocation.run(async () => {
      await ask(`/v1/keys/${key.id}`, { method: "DELETE" });
      reload();
    });
  };
  return (
    <section class="card wide">
      <h2>Keys</h2>
      <NewKey onCreated={reload} />
      <ErrorNote error={error} />
      <ErrorNote error={revocation.error} />
      <Table label="Keys" columns={[["Name"], ["User", "spare"], ["Scopes"], ["Last used", "spare"], ["State", "action"]]}>
        {answer?.data.map((key) => {
          const own = key.id === session.who.value?.id;
          const lastUsed = own ? "just now" : format.time(key.last_used_at);
          return (
            <tr key={key.id}>
              <th scope="row">
                {key.name || "(no name)"}
                {own && <span class="small"> this key</span>}
                <span class="small instead">
                  {format.shortId(key.user_id)}, last used: {lastUsed}
                </span>
              </th>
              <td class="spare" title={key.user_id}>
                <code>{format.shortId(key.user_id)}</code>
              </td>
              <td>{key.scopes.join(", ") || "reads alone"}</td>
              <td class="spare">{lastUsed}</td>
              <td class="action">
                {stateOf(key) || (
                  <button type="button" class="quiet danger" disabled={revocation.busy} onClick={() => revoke(key)}>
                    Revoke <span class="sr-only">{key.name || key.id}</span>
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
  if (key.revoked_at) return `revoked ${format.time(key.revoked_at)}`;
  if (key.expires_at && Date.parse(key.expires_at) < now()) return `expired ${format.time(key.expires_at)}`;
  return "";
}

function NewKey({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<Scope[]>([]);
  const [newUser, setNewUser] = useState(false);
  const [made, setMade] = useState<CreatedKey>();
  const { busy, error, run } = useDoing();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const body = { name, scopes: chosen, ...(newUser && { user_id: "new" }) };
      setMade((await ask<CreatedKey>("/v1/keys", { method: "POST", body })).data);
      setName("");
      onCreated();
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <h3>Create a key</h3>
      <Field label="Name" name="key-name" value={name} onInput={(event) => setName(event.currentTarget.value)} fault={faultAt(error, "name")} />
      <fieldset>
        <legend>Scopes</legend>
        <div class="checks">
          {scopes
            .filter((scope) => session.may(scope))
            .map((scope) => (
              <label class="check" key={scope}>
                <input
                  type="checkbox"
                  value={scope}
                  checked={chosen.includes(scope)}
                  onChange={(event) => setChosen(scopes.filter((s) => (s === scope ? event.currentTarget.checked : chosen.includes(s))))}
                />
                {scope}
              </label>
            ))}
          {session.may("admin") && (
            <label class="check">
              <input type="checkbox" name="new-user" checked={newUser} onChange={(event) => setNewUser(event.currentTarget.checked)} />
              for a new user
            </label>
          )}
        </div>
      </fieldset>
      <ErrorNote error={error} at={["name"]} />
      <button type="submit" class="button" disabled={busy}>
        Create
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
      <p>The key “{made.name}” is shown only once. Copy it now:</p>
      <p>
        <code class="secret">{made.key}</code>
      </p>
      {"clipboard" in navigator && (
        <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(made.key).then(() => setCopied(made.id))}>
          {copied === made.id ? "Copied" : "Copy"}
        </button>
      )}
    </div>
  );
}
