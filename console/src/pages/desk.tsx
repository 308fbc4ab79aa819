// The first page of staff: how the network is, and what waits for them.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { floorOf } from "../chart";
import { now } from "../clock";
import { share, ago, daysOf, trend } from "../desk";
import * as format from "../format";
import { basemapText, rewardsOn } from "../head";
import { outdated } from "../inventory";
import { changes } from "../live";
import { t } from "../messages";
import { Chart } from "../parts/chart";
import { HotspotLink } from "../parts/named";
import { ErrorNote } from "../parts/note";
import { useAsk } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { Inventory, Overview } from "../types";

interface Tile {
  name: string;
  figure: string;
  text: ComponentChildren;
  to: string; // where one acts; empty: nowhere
  calls?: boolean; // something waits
}

export function Overview() {
  const sees = session.may("overview");
  const { answer, error } = useAsk<Overview>(sees ? "/v1/overview" : null, useCell(changes));
  const { answer: run } = useAsk<Inventory>(session.may("all_hotspots") ? "/v1/hotspots/inventory" : null);
  if (!answer) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const is = answer.data;
  return (
    <>
      <ErrorNote error={error} />
      <ul class="desk-tiles" aria-label={t.desk.label}>
        {tiles(is, run?.data).map((tile) => (
          <Box key={tile.name} {...tile} />
        ))}
      </ul>
      <div class="columns home">
        <Silent is={is} />
        <Trend is={is} />
      </div>
    </>
  );
}

function tiles(is: Overview, run?: Inventory): Tile[] {
  const served = is.online + is.offline;
  const count = (n: number, name: string, text: string, to: string, calls = n > 0): Tile => ({ name, figure: format.count(n), text, to, calls });
  const online = share(is.online, served);
  return [
    {
      name: t.desk.online,
      figure: online === null ? "–" : format.percent(online),
      text: t.desk.onlineOf(format.count(is.online), format.count(served)),
      to: "/staff/hotspots?status=online",
    },
    count(is.offline, t.desk.offline, is.offline === 0 ? t.desk.allOnline : t.desk.offlineText, "/staff/hotspots?status=offline&order=seen"),
    count(is.registered_7d, t.desk.fresh, t.desk.freshText, "/staff/hotspots?order=newest", false),
    count(is.to_visit, t.desk.toVisit, is.rejected > 0 ? t.desk.rejected(is.rejected, format.count(is.rejected)) : t.desk.toVisitText, "/staff/verifications"),
    count(is.flags, t.desk.flags, t.desk.flagsText, "/staff/review"),
    ...(rewardsOn() ? books(is, count) : []),
    agents(run),
    streets(),
  ];
}

type Count = (n: number, name: string, text: string, to: string) => Tile;

function books(is: Overview, count: Count): Tile[] {
  const to = session.may("books") ? "/staff/months" : "";
  return [
    count(is.holds, t.desk.holds, t.desk.holdsText, "/staff/holds"),
    {
      name: t.desk.closed,
      figure: is.closed_through ? format.day(is.closed_through) : "–",
      text: is.days_due > 1 ? t.desk.due(format.count(is.days_due)) : is.closed_through ? t.desk.closedText : t.desk.noneClosed,
      to,
      calls: is.days_due > 1,
    },
    {
      name: t.desk.clock,
      figure: is.clock_waiting ? t.desk.clockWaits : t.desk.clockRight,
      text: is.clock_waiting ? t.desk.clockWaitsText : t.desk.clockRightText,
      to,
      calls: is.clock_waiting,
    },
  ];
}

/** Devices whose agent is older than the one that belongs to the server. */
function agents(run?: Inventory): Tile {
  const old = outdated(run?.groups ?? [], AGENT_VERSION).reduce((sum, [, count]) => sum + count, 0);
  const text = old > 0 ? t.desk.agentsText(AGENT_VERSION) : t.desk.noneOld(AGENT_VERSION);
  return { name: t.desk.agents, figure: run ? format.count(old) : "–", text, to: "/staff/inventory", calls: old > 0 };
}

function streets(): Tile {
  const drawn = basemapText() !== "";
  return { name: t.desk.streets, figure: drawn ? t.desk.drawn : t.desk.none, text: drawn ? t.desk.drawnText : t.desk.noneText, to: drawn ? "/" : "/docs/basemap" };
}

/** The whole box leads to where one acts; its name is the link. */
function Box({ name, figure, text, to, calls = false }: Tile) {
  return (
    <li class={calls ? "calls" : undefined}>
      <span class="small">{to ? <a href={to.startsWith("/docs") ? to : `#${to}`}>{name}</a> : name}</span>
      <strong>{figure}</strong>
      <span class="small">{text}</span>
    </li>
  );
}

function Silent({ is: { silent, offline } }: { is: Overview }) {
  return (
    <section class="card">
      <h2>{t.desk.silent}</h2>
      {silent.length === 0 && <p class="hint">{t.desk.allOnline}</p>}
      <ul class="plain">
        {silent.map(({ hotspot_id, name, last_seen_at: at }) => (
          <li key={hotspot_id} class="line between">
            <HotspotLink id={hotspot_id} name={name} />
            <span class="small" title={at ? format.time(at) : undefined}>
              {at ? t.desk.since(ago(Date.parse(at), now())) : t.desk.neverHeard}
            </span>
          </li>
        ))}
      </ul>
      {offline > silent.length && (
        <p>
          <a href="#/staff/hotspots?status=offline&order=seen">{t.desk.allOffline(format.count(offline))}</a>
        </p>
      )}
    </section>
  );
}

function Trend({ is: { uptime } }: { is: Overview }) {
  const drawn = useMemo(
    () => ({ ...daysOf(uptime), values: uptime.map((day) => day.uptime) }),
    [JSON.stringify(uptime)], // another response with the same days must not draw the chart again
  );
  return (
    <section class="card">
      <h2>{t.desk.trend}</h2>
      {uptime.length === 0 ? (
        <p class="hint">{t.desk.noTrend}</p>
      ) : (
        <Chart
          title={t.desk.uptime}
          summary={trend(uptime)}
          {...drawn}
          write={format.percent}
          colour="--online"
          bottom={floorOf(drawn.values)}
          top={1}
          bars
        />
      )}
    </section>
  );
}
