// What the devices of the network run, for staff, and which hotspots have it.
import * as format from "../format";
import { addressOf, filterOf, matching, outdated, parts, values, type Filter, type Part } from "../inventory";
import { t } from "../messages";
import { Tiles } from "../parts/facts";
import { Choice, SearchField } from "../parts/field";
import { useListing } from "../parts/listing";
import { ErrorNote } from "../parts/note";
import { Pager } from "../parts/pager";
import { StatusBadge } from "../parts/status";
import { Table } from "../parts/table";
import { useAsk } from "../parts/use";
import { go } from "../router";
import { session } from "../session";
import { Desk } from "./staff";
import type { HotspotListed, Inventory } from "../types";

const names: Record<Part, string> = { model: t.agent.model, firmware: t.agent.firmware, agent: t.agent.agent };

export function InventoryPage({ query }: { query: Record<string, string> }) {
  const verifies = session.may("all_hotspots");
  const { answer, error } = useAsk<Inventory>(verifies ? "/v1/hotspots/inventory" : null);
  const filter = filterOf(query);
  return (
    <Desk at="/inventory" title={t.staff.inventory} needs="all_hotspots">
      <ErrorNote error={error} />
      {verifies && !answer && !error && <p class="waiting">{t.words.wait}</p>}
      {answer && <Devices inventory={answer.data} filter={filter} />}
      {verifies && Object.keys(filter).length > 0 && <Hotspots key={addressOf(filter)} filter={filter} />}
    </Desk>
  );
}

function Devices({ inventory, filter }: { inventory: Inventory; filter: Filter }) {
  const { linked, reporting, groups } = inventory;
  const old = outdated(groups, AGENT_VERSION);
  const shown = matching(groups, filter);
  const counted = groups.reduce((sum, { count }) => sum + count, 0);
  const narrow = (part: Part, value: string): Filter => ({ ...filter, [part]: value });
  return (
    <>
      <Tiles
        of={[
          [t.inventory.linked, format.count(linked)],
          [t.inventory.reporting, format.count(reporting)],
          [t.inventory.older(AGENT_VERSION), format.count(old.reduce((sum, [, count]) => sum + count, 0))],
        ]}
      />
      {old.length > 0 && (
        <p class="note">
          <span>
            {t.inventory.current(
              AGENT_VERSION,
              old.map(([version, count], i) => (
                <>
                  {i > 0 && ", "}
                  <a href={`#${addressOf({ agent: version })}`}>{version}</a> ({format.count(count)})
                </>
              )),
              (text) => (
                <a href="/docs/agent">{text}</a>
              ),
            )}
          </span>
        </p>
      )}
      <section class="card wide">
        <h2>{t.inventory.title}</h2>
        <div class="line">
          {parts.map((part) => (
            <Choice
              key={part}
              label={names[part]}
              name={part}
              value={filter[part] ?? ""}
              options={[["", t.words.all], ...offered(inventory, filter, part)]}
              onChange={(value) => go(addressOf(narrow(part, value)))}
            />
          ))}
        </div>
        {shown.length === 0 && <p>{reporting === 0 ? t.inventory.noneReport : t.inventory.none}</p>}
        {shown.length > 0 && (
          <Table label={t.inventory.title} columns={[[names.model], [names.firmware, "spare"], [names.agent], [t.words.hotspots, "number"]]}>
            {shown.map((group) => (
              <tr key={parts.map((part) => group[part]).join("\n")}>
                {parts.map((part) => (
                  <td key={part} class={part === "firmware" ? "spare" : undefined}>
                    {group[part] ? <a href={`#${addressOf(narrow(part, group[part]))}`}>{group[part]}</a> : t.inventory.notReported}
                    {part === "model" && <span class="small instead">{group.firmware}</span>}
                  </td>
                ))}
                <td class="number">{format.count(group.count)}</td>
              </tr>
            ))}
          </Table>
        )}
        {counted < reporting && <p class="hint">{t.inventory.frequent(format.count(groups.length), format.count(counted))}</p>}
      </section>
    </>
  );
}

/** What can be chosen of a part beside the rest of the filter, and what is chosen already. */
function offered({ groups }: Inventory, filter: Filter, part: Part): [string, string][] {
  const { [part]: chosen, ...rest } = filter;
  const all = values(matching(groups, rest), part);
  if (chosen && !all.some(([value]) => value === chosen)) all.push([chosen, 0]);
  return all.map(([value, count]) => [value, `${value} (${format.count(count)})`]);
}

function Hotspots({ filter }: { filter: Filter }) {
  const list = useListing<HotspotListed>("/v1/hotspots", filter as Record<string, string>, 0);
  const { answer, error, loading } = list;
  const total = answer?.pagination?.total ?? 0;
  return (
    <section class="card wide">
      <h2>{t.words.hotspots}</h2>
      <SearchField label={t.words.name} value={list.text} onSearch={list.search} />
      <ErrorNote error={error} />
      {loading && !answer && <p class="waiting">{t.words.wait}</p>}
      <p role="status">
        {answer && tell(total, list.searched, filter)}
      </p>
      {total > 0 && (
        <Table label={t.inventory.withIt} columns={[[t.words.name], [t.words.status], [names.model, "spare"], [names.firmware, "spare"], [names.agent]]}>
          {answer?.data.map((hotspot) => (
            <tr key={hotspot.id}>
              <th scope="row">
                <a href={`#/hotspots/${hotspot.id}`}>{hotspot.name}</a>
                <span class="small instead">{[hotspot.device.model, hotspot.device.firmware].filter(Boolean).join(", ")}</span>
              </th>
              <td>
                <StatusBadge status={hotspot.status} />
              </td>
              <td class="spare">{hotspot.device.model || t.inventory.notReported}</td>
              <td class="spare">{hotspot.device.firmware || t.inventory.notReported}</td>
              <td>{hotspot.device.agent}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pager pagination={answer?.pagination} onPage={list.turn} />
    </section>
  );
}

function tell(total: number, searched: string, filter: Filter): string {
  const wanted = [searched && t.inventory.inName(searched), ...parts.map((part) => filter[part] && t.inventory.parts[part](filter[part]))];
  const what = wanted.filter(Boolean).join(", ");
  return total === 0 ? t.inventory.no(what) : t.inventory.found(total, format.count(total), what);
}
