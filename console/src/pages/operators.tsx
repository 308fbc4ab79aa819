// Users with hotspots, for admins: what they have, and what they may have.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { rewardsOn } from "../head";
import { changes } from "../live";
import { t } from "../messages";
import { Tiles } from "../parts/facts";
import { Field, SearchField } from "../parts/field";
import { useListing } from "../parts/listing";
import { User } from "../parts/named";
import { ErrorNote, faultAt } from "../parts/note";
import { Pager } from "../parts/pager";
import { StatusBadge } from "../parts/status";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot, Operators, Quota, Rewards } from "../types";
import { Held } from "./held";
import { AccountPeople } from "./members";
import { Desk } from "./staff";

export function OperatorsPage({ id }: { id: string }) {
  return (
    <Desk at="/operators" title={id ? t.operators.operator : t.operators.operators} needs="operators">
      {id ? <Operator key={id} id={id} /> : <List />}
    </Desk>
  );
}

const earnedIn = (month: string): [string, string] => [t.operators.earnedIn(format.month(month)), "number"];

function List() {
  const [older, setOlder] = useState<Operators>();
  const { answer, error } = useAsk<Operators>("/v1/operators");
  const { busy, error: failed, run } = useDoing();
  const next = (older ?? answer?.data)?.next;
  const operators = [...(answer?.data.operators ?? []), ...(older?.operators ?? [])];
  const more = (): void =>
    run(async () => {
      const { data } = await ask<Operators>(`/v1/operators?after=${next ?? ""}`);
      setOlder({ ...data, operators: [...(older?.operators ?? []), ...data.operators] });
    });
  return (
    <section class="card wide">
      <ErrorNote error={error} />
      {!answer && !error && <p class="waiting">{t.words.wait}</p>}
      {answer && operators.length === 0 && <p role="status">{t.operators.nobody}</p>}
      {answer && operators.length > 0 && (
        <Table
          label={t.operators.operators}
          columns={[[t.operators.operator], [t.words.hotspots, "number"], [t.operators.notVerified, "number spare"], [t.operators.keys, "number spare"], ...(rewardsOn() ? [earnedIn(answer.data.month)] : [])]}
        >
          {operators.map((operator) => (
            <tr key={operator.user_id}>
              <th scope="row">
                <User id={operator.user_id} />
              </th>
              <td class="number">
                <a href={`#/staff/hotspots?operator=${operator.user_id}`}>
                  {format.count(operator.hotspots)} <span class="sr-only">{t.allHotspots.of(format.shortId(operator.user_id))}</span>
                </a>
              </td>
              <td class="number spare">{format.count(operator.waiting)}</td>
              <td class="number spare">{format.count(operator.keys)}</td>
              {rewardsOn() && <td class="number">{format.credits(operator.earned)}</td>}
            </tr>
          ))}
        </Table>
      )}
      {rewardsOn() && <p class="hint">{t.operators.hint}</p>}
      <ErrorNote error={failed} />
      {next && (
        <button type="button" class="quiet" disabled={busy} onClick={more}>
          {t.words.showMore}
        </button>
      )}
    </section>
  );
}

function Operator({ id }: { id: string }) {
  const rewards = useAsk<Rewards>(rewardsOn() && session.mayFor("rewards", id) ? `/v1/users/${id}/rewards?period=current` : null);
  const sums = rewards.answer?.data.summary;
  return (
    <>
      <p>
        <code class="id">{id}</code>
      </p>
      <ErrorNote error={rewards.error} />
      {sums && (
        <Tiles
          of={[
            [t.home.earnedThisMonth, format.credits(sums.total_earned)],
            [t.words.pending, format.credits(sums.pending)],
            [t.words.held, format.credits(sums.held)],
          ]}
        />
      )}
      {rewardsOn() && session.mayFor("rewards", id) && <Held user={id} />}
      {session.mayFor("", id) && <Hotspots id={id} />}
      {session.mayFor("member_list", id) && <AccountPeople account={id} />}
      {session.mayFor("accounts", id) && <QuotaForm id={id} />}
      <p class="line">
        {session.may("all_hotspots") && <a href={`#/staff/hotspots?operator=${id}`}>{t.operators.among}</a>}
        {rewardsOn() && session.may("holds") && <a href={`#/staff/holds?operator=${id}`}>{t.operators.holdAll}</a>}
        {session.may("audit") && <a href={`#/staff/audit?user_id=${id}`}>{t.operators.whatTheyDid}</a>}
      </p>
    </>
  );
}

function Hotspots({ id }: { id: string }) {
  const list = useListing<Hotspot>(`/v1/users/${id}/hotspots`, {}, useCell(changes));
  return (
    <section class="card wide">
      <h2>{t.words.hotspots}</h2>
      <SearchField label={t.words.name} value={list.text} onSearch={list.search} />
      <ErrorNote error={list.error} />
      <p role="status">{list.answer && t.words.inAll(format.count(list.answer.pagination?.total ?? 0))}</p>
      {list.answer && list.answer.data.length > 0 && (
        <Table label={t.operators.hotspots} columns={[[t.words.name], [t.words.status], [t.words.type, "spare"], [t.words.uptime30, "number spare"]]}>
          {list.answer.data.map((hotspot) => (
            <tr key={hotspot.id}>
              <th scope="row">
                <a href={`#/hotspots/${hotspot.id}`}>{hotspot.name}</a>
              </th>
              <td>
                <StatusBadge status={hotspot.status} />
              </td>
              <td class="spare">{t.type[hotspot.type]}</td>
              <td class="number spare">{format.uptime(hotspot.status, hotspot.metrics.uptime_30d)}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pager pagination={list.answer?.pagination} onPage={list.turn} />
    </section>
  );
}

const parts = { hotspots: t.operators.waiting, keys: t.operators.keys, streams: t.operators.streams, statements: t.operators.statements } as const;
type Part = keyof typeof parts;

function QuotaForm({ id }: { id: string }) {
  const { answer, error } = useAsk<Quota>(`/v1/users/${id}/quota`);
  const [changed, setChanged] = useState<Partial<Record<Part, string>>>({});
  const [saved, setSaved] = useState(false);
  const doing = useDoing();
  const quota = answer?.data;
  const send = doing.submit(async () => {
    setSaved(false);
    const body = Object.fromEntries((Object.keys(parts) as Part[]).map((part) => [part, Number(changed[part] ?? quota?.[part])]));
    await ask(`/v1/users/${id}/quota`, { method: "PUT", body });
    setSaved(true);
  });
  return (
    <form class="card wide" onSubmit={send} noValidate>
      <h2>{t.operators.quota}</h2>
      <ErrorNote error={error} />
      {quota && (
        <div class="line">
          {(Object.keys(parts) as Part[]).map((part) => (
            <Field
              key={part}
              label={parts[part]}
              name={part}
              type="number"
              min={0}
              value={changed[part] ?? String(quota[part])}
              onInput={(event) => {
                setSaved(false);
                setChanged({ ...changed, [part]: event.currentTarget.value });
              }}
              fault={faultAt(doing.error, part)}
            />
          ))}
        </div>
      )}
      <ErrorNote error={doing.error} at={Object.keys(parts)} />
      <p role="status">{saved ? t.words.saved : ""}</p>
      <button type="submit" class="button" disabled={doing.busy || !quota}>
        {t.words.save}
      </button>
    </form>
  );
}
