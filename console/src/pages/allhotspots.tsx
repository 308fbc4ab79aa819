// All hotspots of the network, for staff.
import { useState } from "preact/hooks";
import * as format from "../format";
import { changes } from "../live";
import { t } from "../messages";
import { Choice, SearchField } from "../parts/field";
import { useListing } from "../parts/listing";
import { ErrorNote } from "../parts/note";
import { Pager } from "../parts/pager";
import { StatusBadge } from "../parts/status";
import { Table } from "../parts/table";
import { session } from "../session";
import { useCell } from "../state";
import type { HotspotListed } from "../types";
import { Desk } from "./staff";

export function AllHotspotsPage() {
  return (
    <Desk at="/hotspots" title="All hotspots">
      {session.may("hotspots:verify") && <List />}
    </Desk>
  );
}

const filters = {
  status: { label: "Status", options: { "": "All", online: "online", offline: "offline", pending: "pending" } },
  type: { label: "Type", options: { "": "All", public: "public", business: "business", home: "home" } },
  verified: { label: "Location", options: { "": "All", true: "verified", false: "not verified" } },
  order: { label: "Order", options: { oldest: "Oldest first", newest: "Newest first" } },
} as const;
type Filter = keyof typeof filters;

function List() {
  const [chosen, setChosen] = useState<Record<string, string>>({ order: "newest" });
  const list = useListing<HotspotListed>("/v1/hotspots", chosen, useCell(changes));
  const { answer, error, loading } = list;
  const choose = (filter: Filter, value: string): void => {
    const { [filter]: _, ...rest } = chosen;
    setChosen(value ? { ...rest, [filter]: value } : rest);
    list.turn(1);
  };
  const total = answer?.pagination?.total ?? 0;
  return (
    <section class="card wide">
      <div class="line">
        <SearchField label="Name" value={list.text} onSearch={list.search} />
        {(Object.keys(filters) as Filter[]).map((filter) => (
          <Choice key={filter} label={filters[filter].label} name={filter} value={chosen[filter] ?? ""} onChange={(value) => choose(filter, value)}>
            {Object.entries(filters[filter].options).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </Choice>
        ))}
      </div>
      <ErrorNote error={error} />
      {loading && !answer && <p class="waiting">{t.words.wait}</p>}
      <p role="status">{answer && (total === 0 ? "No hotspots." : `${format.count(total)} ${total === 1 ? "hotspot" : "hotspots"}.`)}</p>
      {total > 0 && (
        <Table label="All hotspots" columns={[["Name"], ["Status"], ["Type", "spare"], ["Location", "spare"], ["Device", "spare"], ["Uptime, 30 days", "number spare"], ["Visit", "action"]]}>
          {answer?.data.map((hotspot) => (
            <tr key={hotspot.id}>
              <th scope="row">
                <a href={`#/hotspots/${hotspot.id}`}>{hotspot.name}</a>
                <span class="small instead">
                  {hotspot.type}, {format.percent(hotspot.uptime_30d)} up
                </span>
              </th>
              <td>
                <StatusBadge status={hotspot.status} />
              </td>
              <td class="spare">{hotspot.type}</td>
              <td class="spare">{hotspot.location.verified ? "verified" : "not verified"}</td>
              <td class="spare">{hotspot.device.linked ? "linked" : "not linked"}</td>
              <td class="number spare">{format.percent(hotspot.uptime_30d)}</td>
              <td class="action">
                <a href={`#/visits/${hotspot.id}`}>
                  Visit <span class="sr-only">{hotspot.name}</span>
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
