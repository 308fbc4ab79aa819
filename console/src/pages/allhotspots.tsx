// All hotspots of the network, for staff.
import { useState } from "preact/hooks";
import { send } from "../api";
import { today } from "../clock";
import * as format from "../format";
import { pageOf } from "../listing";
import { changes } from "../live";
import { t } from "../messages";
import { Choice, SearchField } from "../parts/field";
import { useListing } from "../parts/listing";
import { User } from "../parts/named";
import { ErrorNote } from "../parts/note";
import { Pager } from "../parts/pager";
import { save } from "../parts/save";
import { StatusBadge } from "../parts/status";
import { Table } from "../parts/table";
import { useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { HotspotListed } from "../types";
import { Desk } from "./staff";

/** All of them, or those of an operator whom the address names. It may also choose filters. */
export function AllHotspotsPage({ query }: { query: Record<string, string> }) {
  return (
    <Desk at="/hotspots" title={t.allHotspots.title} needs="all_hotspots">
      {session.may("all_hotspots") && <List query={query} />}
    </Desk>
  );
}

const filters = {
  status: { label: t.words.status, options: { "": t.words.all, ...t.status } },
  type: { label: t.words.type, options: { "": t.words.all, public: t.type.public, business: t.type.business, home: t.type.home } },
  verified: { label: t.words.location, options: { "": t.words.all, true: t.words.verified, false: t.words.notVerified } },
  order: { label: t.words.order, options: { oldest: t.words.oldest, newest: t.words.newest, seen: t.allHotspots.silent, uptime: t.allHotspots.leastUptime } },
} as const;
type Filter = keyof typeof filters;

/** What of an address the filters can show: the server refuses the rest. */
function known(asked: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).flatMap(([filter, { options }]) => (asked[filter] && asked[filter] in options ? [[filter, asked[filter]]] : [])));
}

function List({ query: { operator = "", ...asked } }: { query: Record<string, string> }) {
  const [chosen, setChosen] = useState<Record<string, string>>(() => ({ order: "newest", ...known(asked), ...(operator && { operator_id: operator }) }));
  const list = useListing<HotspotListed>("/v1/hotspots", chosen, useCell(changes));
  const { answer, error, loading } = list;
  const choose = (filter: Filter, value: string): void => {
    const { [filter]: _, ...rest } = chosen;
    setChosen(value ? { ...rest, [filter]: value } : rest);
  };
  const total = answer?.pagination?.total ?? 0;
  const saving = useDoing();
  const saveAll = (): void =>
    saving.run(async () => save(`hotspots-${today()}.csv`, await (await send(pageOf("/v1/hotspots", { page: 1, text: list.searched, filter: chosen }), { headers: { Accept: "text/csv" } })).blob()));
  return (
    <section class="card wide">
      {operator && (
        <p class="line">
          <span>
            {t.operators.operator} <User id={operator} />
          </span>
          <a href="#/staff/hotspots">{t.allHotspots.ofAll}</a>
        </p>
      )}
      <div class="line">
        <SearchField label={t.words.name} value={list.text} onSearch={list.search} />
        {(Object.keys(filters) as Filter[]).map((filter) => (
          <Choice
            key={filter}
            label={filters[filter].label}
            name={filter}
            value={chosen[filter] ?? ""}
            options={Object.entries(filters[filter].options)}
            onChange={(value) => choose(filter, value)}
          />
        ))}
        <button type="button" class="quiet" disabled={total === 0 || saving.busy} onClick={saveAll}>
          {t.home.csv(format.count(total))}
        </button>
        {session.may("hotspots") && (
          <a class="quiet" href="#/import">
            {t.import.link}
          </a>
        )}
      </div>
      <ErrorNote error={error ?? saving.error} />
      {loading && !answer && <p class="waiting">{t.words.wait}</p>}
      <p role="status">{answer && (total === 0 ? t.allHotspots.none : `${t.words.hotspotCount(total, format.count(total))}.`)}</p>
      {total > 0 && (
        <Table label={t.allHotspots.title} columns={[[t.words.name], [t.words.status], [t.words.type, "spare"], [t.words.location, "spare"], [t.words.device, "spare"], [t.words.uptime30, "number spare"], [t.visits.visit, "action"]]}>
          {answer?.data.map((hotspot) => (
            <tr key={hotspot.id}>
              <th scope="row">
                <a href={`#/hotspots/${hotspot.id}`}>{hotspot.name}</a>
                <span class="small instead">{t.allHotspots.row(t.type[hotspot.type], format.uptime(hotspot.status, hotspot.uptime_30d))}</span>
              </th>
              <td>
                <StatusBadge status={hotspot.status} />
              </td>
              <td class="spare">{t.type[hotspot.type]}</td>
              <td class="spare">{hotspot.location.verified ? t.words.verified : t.words.notVerified}</td>
              <td class="spare">{hotspot.device.linked ? t.words.linked : t.words.notLinked}</td>
              <td class="number spare">{format.uptime(hotspot.status, hotspot.uptime_30d)}</td>
              <td class="action">
                <a href={`#/visits/${hotspot.id}`}>
                  {t.allHotspots.visit} <span class="sr-only">{hotspot.name}</span>
                </a>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager pagination={answer?.pagination} onPage={list.turn} />
    </section>
  );
}
