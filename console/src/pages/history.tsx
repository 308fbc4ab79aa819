// Uptime, traffic and clients over time.
import { useMemo, useState } from "preact/hooks";
import { isUnfinished } from "../chart";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { Chart } from "../parts/chart";
import { ErrorNote } from "../parts/note";
import { Tabs } from "../parts/panel";
import { Table } from "../parts/table";
import { useAsk } from "../parts/use";
import type { History, Hotspot } from "../types";
import { uptimeInWords } from "../uptime";

const hour = 3_600_000;
const ranges = [
  { id: "24h", name: t.history.ranges["24h"], hours: 24, step: "1h", seconds: 3600, each: t.history.hours },
  { id: "7d", name: t.history.ranges["7d"], hours: 7 * 24, step: "1h", seconds: 3600, each: t.history.hours },
  { id: "30d", name: t.history.ranges["30d"], hours: 30 * 24, step: "6h", seconds: 6 * 3600, each: t.history.quarters },
  { id: "90d", name: t.history.ranges["90d"], hours: 90 * 24, step: "1d", seconds: 24 * 3600, each: t.history.days },
];
type Range = (typeof ranges)[number];

const none: History["points"] = [];

const carriedColumns: [string, string][] = [
  [t.history.traffic, "number"],
  [t.history.clients, "number"],
];

export function HistoryCharts({ hotspot: { id, metrics } }: { hotspot: Hotspot }) {
  const [chosen, setChosen] = useState("7d");
  const range = ranges.find((r) => r.id === chosen) ?? ranges[0];
  if (!range) return null;
  return (
    <section class="card wide">
      <div class="head">
        <h2>{t.history.title}</h2>
        <Tabs label={t.history.range} tabs={ranges} chosen={chosen} onChoose={setChosen} />
      </div>
      <Charts key={chosen} id={id} range={range} figure={chosen === "30d" ? metrics.uptime_30d : undefined} />
    </section>
  );
}

function Charts({ id, range, figure }: { id: string; range: Range; figure: number | undefined }) {
  const [from] = useState(() => new Date(now() - range.hours * hour).toISOString());
  const { answer, error } = useAsk<History>(`/v1/hotspots/${encodeURIComponent(id)}/history?from=${from}&step=${range.step}`);
  // What stands below must not move when the answer comes.
  const points = answer?.data.points ?? none;
  const told = (summary: string): string => (answer ? summary : t.words.wait);
  const { at, uptimes, traffic, clients } = useMemo(
    () => ({
      at: points.map((point) => Date.parse(point.at) / 1000),
      uptimes: points.map((point) => point.uptime),
      traffic: points.map((point) => point.traffic_gb),
      clients: points.map((point) => point.clients),
    }),
    [points],
  );
  const name = (i: number): string => format.time(points[i]?.at ?? null);
  const unfinished = isUnfinished(at.at(-1), range.seconds, now() / 1000);
  const same = (values: (number | null)[]) => ({ at, name, values, unfinished: unfinished && values.at(-1) !== null });
  if (error) return <ErrorNote error={error} />;
  const uptime = uptimeInWords(points, { ...range, figure });
  const figures = points.some(({ clients }) => clients !== null); // shown to the operator and staff
  const carried = points.reduce((sum, point) => sum + (point.traffic_gb ?? 0), 0);
  const most = Math.max(0, ...points.map(({ clients }) => clients ?? 0));
  return (
    <>
      <Chart {...same(uptimes)} title={t.history.uptime} summary={told(uptime)} write={format.percent} top={1} colour="--online" />
      {(figures || !answer) && (
        <>
          <Chart
            {...same(traffic)}
            title={t.history.traffic}
            summary={told(t.history.inAll(format.traffic(carried)))}
            write={format.traffic}
            colour="--accent"
          />
          <Chart
            {...same(clients)}
            title={t.history.mostClients}
            summary={told(t.history.atMost(format.count(most)))}
            write={format.count}
            colour="--pending"
          />
        </>
      )}
      <p class="small">{t.history.zone(format.zone())}</p>
      <details>
        <summary>{t.history.showTable}</summary>
        <Table label={t.history.table} columns={[[t.history.from], [t.history.uptime, "number"], ...(figures ? carriedColumns : []), [t.words.tier]]}>
          {points.map((point) => (
            <tr key={point.at}>
              <th scope="row">{format.time(point.at)}</th>
              <td class="number">{point.uptime === null ? "–" : format.percent(point.uptime)}</td>
              {figures && <td class="number">{format.traffic(point.traffic_gb ?? 0)}</td>}
              {figures && <td class="number">{format.count(point.clients ?? 0)}</td>}
              <td>{point.performance_tier && t.tier[point.performance_tier]}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}
