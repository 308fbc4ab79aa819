// What an operator earned.
import { useState } from "preact/hooks";
import { send } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { ErrorNote } from "../parts/note";
import { Tabs } from "../parts/panel";
import { Pager } from "../parts/pager";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import { Held } from "./held";
import type { Rewards, RewardsMonth } from "../types";

const periods = [
  { id: "current", name: "This month" },
  { id: "last", name: "Last month" },
  { id: "all", name: "All" },
];
const statusTexts: Record<string, string> = {
  in_progress: "in progress",
  finalizing: "finalizing; settled 72 hours after its end",
  settled: "settled",
};

export function RewardsPage() {
  const [period, setPeriod] = useState("current");
  if (!session.may("rewards:read")) {
    return (
      <section class="page">
        <h1>Rewards</h1>
        <p class="note">This needs a key with the scope rewards:read. Ask the network's staff for one.</p>
      </section>
    );
  }
  return (
    <section class="page">
      <div class="head">
        <h1>Rewards</h1>
        <Tabs label="Period" tabs={periods} chosen={period} onChoose={setPeriod} />
      </div>
      <Held />
      <Summary period={period} />
      <Months />
    </section>
  );
}

function Summary({ period }: { period: string }) {
  const { answer, error } = useAsk<Rewards>(`/v1/users/me/rewards?period=${period}`);
  if (error) return <ErrorNote error={error} />;
  if (!answer) return <p class="waiting">One moment…</p>;
  const { summary, breakdown, hotspots, period: span } = answer.data;
  const tile = (name: string, amount: number) => (
    <div>
      <dt>{name}</dt>
      <dd>{format.credits(amount)}</dd>
    </div>
  );
  return (
    <>
      <p class="hint">
        In credits. {period === "all" ? "All months; the current one is" : "This period is"} {statusTexts[span.status] ?? span.status}.
      </p>
      <dl class="tiles">
        {tile("Earned", summary.total_earned)}
        {tile("Pending", summary.pending)}
        {tile("Settled", summary.settled)}
        {summary.held > 0 && tile("Held", summary.held)}
        {summary.voided > 0 && tile("Void", summary.voided)}
      </dl>
      <dl class="tiles minor">
        {tile("Availability", breakdown.availability)}
        {tile("Performance", breakdown.performance)}
        {tile("Utilization", breakdown.utilization)}
      </dl>
      <section class="card wide">
        <h2>By hotspot</h2>
        {hotspots.length === 0 && <p>No hotspot was in service in this period.</p>}
        {hotspots.length > 0 && (
          <Table label="Rewards by hotspot" columns={[["Hotspot"], ["Earned", "number"], ["Availability", "number spare"], ["Tier", "spare"], ["Days", "action"]]}>
            {hotspots.map((hotspot) => (
              <tr key={hotspot.hotspot_id}>
                <th scope="row">
                  {hotspot.name}
                  <span class="small instead">
                    {format.percent(hotspot.availability_score)} available, {hotspot.performance_tier}
                  </span>
                </th>
                <td class="number">{format.credits(hotspot.earned)}</td>
                <td class="number spare">{format.percent(hotspot.availability_score)}</td>
                <td class="spare">{hotspot.performance_tier}</td>
                <td class="action">
                  <a href={`#/hotspots/${hotspot.hotspot_id}/days`}>
                    By day <span class="sr-only">of {hotspot.name}</span>
                  </a>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </>
  );
}

function Months() {
  const [page, setPage] = useState(1);
  const { answer, error } = useAsk<RewardsMonth[]>(`/v1/users/me/rewards/history?per_page=12&page=${page}`);
  const download = useDoing();
  return (
    <section class="card wide">
      <h2>By month</h2>
      <ErrorNote error={error} />
      <ErrorNote error={download.error} />
      {answer && answer.data.length === 0 && <p>No rewards yet.</p>}
      {answer && answer.data.length > 0 && (
        <Table label="Rewards by month" columns={[["Month"], ["Earned", "number"], ["Hotspots", "number"], ["Availability", "number"], ["Statement"]]}>
          {answer.data.map((month) => (
            <tr key={month.period}>
              <th scope="row">{format.month(month.period)}</th>
              <td class="number">{format.credits(month.total_earned)}</td>
              <td class="number">{format.count(month.hotspot_count)}</td>
              <td class="number">{format.percent(month.avg_availability)}</td>
              <td>
                <Statements period={month.period} busy={download.busy} onDownload={(type) => download.run(() => save(month.period, type))} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager pagination={answer?.pagination} onPage={setPage} />
      <p class="hint">
        A statement has a row for each hotspot and day. Anyone can check it: <code>beacon rewards verify FILE</code>.
      </p>
    </section>
  );
}

type Form = "json" | "csv";

function Statements({ period, busy, onDownload }: { period: string; busy: boolean; onDownload: (form: Form) => void }) {
  if (!isOver(period)) return <span class="small">after the month is settled</span>;
  return (
    <span class="line">
      {(["json", "csv"] as const).map((form) => (
        <button type="button" class="quiet" key={form} disabled={busy} onClick={() => onDownload(form)}>
          {form.toUpperCase()} <span class="sr-only">of {period}</span>
        </button>
      ))}
    </span>
  );
}

/** Whether the month has ended; the server knows whether it is settled. */
function isOver(period: string): boolean {
  const [year = 0, month = 0] = period.split("-").map(Number);
  return now() > Date.UTC(year, month, 1);
}

// The file needs the key to be fetched, so a plain link will not do.
async function save(period: string, form: Form): Promise<void> {
  const accept = form === "csv" ? "text/csv" : "application/json";
  const response = await send(`/v1/users/me/rewards/statements/${period}`, { headers: { Accept: accept } });
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = `beacon-statement-${period}.${form}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
