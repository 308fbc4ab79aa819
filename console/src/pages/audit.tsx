// Who changed what, for admins.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { Choice, Field } from "../parts/field";
import { HotspotLink, User } from "../parts/named";
import { ErrorNote } from "../parts/note";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { go } from "../router";
import { session } from "../session";
import type { Audit, AuditRow } from "../types";
import { Desk } from "./staff";

const families: Record<string, string> = { "": t.words.all, ...t.audit.families };

const names = ["kind", "target", "user_id"] as const;

export function AuditPage({ query }: { query: Record<string, string> }) {
  const asked = new URLSearchParams(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  return (
    <Desk at="/audit" title={t.staff.audit} needs="audit">
      <Filters query={query} />
      <Changes key={asked.toString()} query={asked.toString()} />
    </Desk>
  );
}

function Filters({ query }: { query: Record<string, string> }) {
  const [kind, setKind] = useState(query.kind ?? "");
  const [target, setTarget] = useState(query.target ?? "");
  const [user, setUser] = useState(query.user_id ?? "");
  const submit = (event: Event): void => {
    event.preventDefault();
    const wanted = new URLSearchParams(Object.entries({ kind, target: target.trim(), user_id: user.trim() }).filter(([, value]) => value));
    go(`/staff/audit${wanted.size > 0 ? `?${wanted.toString()}` : ""}`);
  };
  return (
    <form class="card wide" onSubmit={submit}>
      <div class="line">
        <Choice
          label={t.audit.what}
          name="kind"
          value={kind}
          options={Object.entries({ ...families, ...(kind in families ? {} : { [kind]: kind }) })}
          onChange={setKind}
        />
        <Field label={t.audit.target} name="target" value={target} onInput={(event) => setTarget(event.currentTarget.value)} />
        <Field label={t.audit.user} name="user_id" value={user} onInput={(event) => setUser(event.currentTarget.value)} />
        <button type="submit" class="button">
          {t.words.show}
        </button>
      </div>
    </form>
  );
}

/** The newest first; older ones are added below. */
function Changes({ query }: { query: string }) {
  const path = (cursor: string): string => `/v1/audit?${query}${query && "&"}limit=50${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
  const { answer, error } = useAsk<Audit>(path(""));
  const [older, setOlder] = useState<Audit>();
  const { busy, error: failed, run } = useDoing();
  const next = (older ?? answer?.data)?.next;
  const rows = [...(answer?.data.changes ?? []), ...(older?.changes ?? [])];
  const more = (): void =>
    run(async () => {
      const { data } = await ask<Audit>(path(next ?? ""));
      setOlder({ changes: [...(older?.changes ?? []), ...data.changes], next: data.next });
    });
  return (
    <section class="card wide">
      <ErrorNote error={error} />
      {!answer && !error && <p class="waiting">{t.words.wait}</p>}
      {answer && rows.length === 0 && <p role="status">{next ? t.audit.nothingNew : t.audit.nothing}</p>}
      {rows.length > 0 && (
        <Table label={t.audit.changes} columns={[[t.audit.when, "spare"], [t.audit.what], [t.audit.of], [t.audit.by, "spare"], [t.audit.note, "spare"]]}>
          {rows.map((row, i) => (
            <tr key={i}>
              <td class="spare">{format.time(row.at)}</td>
              <th scope="row">
                <span class="whole">{row.kind}</span>
                <span class="small instead">{format.time(row.at)}</span>
                <span class="small instead">
                  <By row={row} /> {row.note}
                </span>
              </th>
              <td>
                <Target id={row.target} />
              </td>
              <td class="spare" title={row.key_id ? t.audit.requestAndKey(row.request_id, row.key_id) : t.audit.request(row.request_id)}>
                <By row={row} />
              </td>
              <td class="spare">{row.note}</td>
            </tr>
          ))}
        </Table>
      )}
      <ErrorNote error={failed} />
      {next && (
        <button type="button" class="quiet" disabled={busy} onClick={more}>
          {t.audit.older}
        </button>
      )}
    </section>
  );
}

function By({ row }: { row: AuditRow }) {
  const { person, person_name: name } = row;
  if (person) return session.may("people") ? <a href={`#/staff/people/${person}`}>{name || format.shortId(person)}</a> : <span title={person}>{name || format.shortId(person)}</span>;
  if (row.user_id) return <User id={row.user_id} />;
  return <>{row.request_id === "cli" ? t.audit.commandLine : t.audit.machine}</>;
}

function PersonLink({ id }: { id: string }) {
  return (
    <a href={`#/staff/people/${id}`} title={id}>
      <code class="id">{format.shortId(id)}</code>
    </a>
  );
}

function Target({ id }: { id: string }) {
  if (id.startsWith("per_") && session.may("people")) return <PersonLink id={id} />;
  if (id.startsWith("hs_")) return <HotspotLink id={id} name="" />;
  return id.length > 14 ? <User id={id} /> : <>{id}</>;
}
