// The keys of one's own user, or everyone's for admin.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { Lacks } from "../parts/lacks";
import { ErrorNote } from "../parts/note";
import { Pager } from "../parts/pager";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import { OwnData } from "./account";
import { NewKey } from "./newkey";
import type { Key } from "../types";

/** For operators, who see to their own keys and to nothing else of what staff do. */
export function KeysPage() {
  return (
    <section class="page">
      <h1>{t.keys.title}</h1>
      {session.may("keys") ? <Keys /> : !session.may("leaving") && <Lacks of="keys" ask />}
      {session.may("leaving") && <OwnData />}
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
      <Table label={t.keys.keys} columns={[[t.words.name], [t.keys.user, "spare"], [t.keys.scopes, "spare"], [t.keys.lastUsed, "spare"], [t.keys.state, "action"]]}>
        {answer?.data.map((key) => {
          const own = key.id === session.who.value?.id;
          const permits = key.scopes.join(", ") || t.keys.readOnly;
          const lastUsed = own ? t.keys.justNow : format.ago(key.last_used_at, now());
          return (
            <tr key={key.id}>
              <th scope="row">
                {key.name || t.keys.noName}
                {own && <span class="small">{t.keys.thisKey}</span>}
                <span class="small instead">{permits}</span>
                {key.max_enrolments > 0 && <span class="small instead">{enrolments(key)}</span>}
                <span class="small instead">{t.keys.lastUsedAt(format.shortId(key.user_id), lastUsed)}</span>
              </th>
              <td class="spare" title={key.user_id}>
                <code>{format.shortId(key.user_id)}</code>
              </td>
              <td class="spare">
                {permits}
                {key.max_enrolments > 0 && <div class="small">{enrolments(key)}</div>}
              </td>
              <td class="spare">{lastUsed}</td>
              <td class="action">
                {stateOf(key) ? (
                  <span class="ended">{stateOf(key)}</span>
                ) : (
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

/** How many devices an enrolment key has linked, of which, and until when it may. */
function enrolments(key: Key): string {
  const parts = [t.keys.enrolled(key.max_enrolments, format.count(key.enrolments), format.count(key.max_enrolments))];
  if (key.hotspots.length > 0) parts.push(t.keys.ofHotspots(key.hotspots.length, format.count(key.hotspots.length)));
  if (key.may_register) parts.push(t.keys.registers);
  if (!stateOf(key)) parts.push(t.keys.endsAt(format.time(key.expires_at)));
  return parts.join(", ");
}

function stateOf(key: Key): string {
  if (key.revoked_at) return t.keys.revoked(format.time(key.revoked_at));
  if (key.expires_at && Date.parse(key.expires_at) < now()) return t.keys.expired(format.time(key.expires_at));
  return "";
}
