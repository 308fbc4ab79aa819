// What an operator earned.
import { useState } from "preact/hooks";
import { ask, send } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { Credits } from "../parts/credits";
import { ErrorNote } from "../parts/note";
import { Tabs } from "../parts/panel";
import { Pager } from "../parts/pager";
import { save, saveCSV } from "../parts/save";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import { statementCSV } from "../statement";
import type { Rewards, RewardsMonth, Statement } from "../types";
import { Earnings } from "./earnings";
import { Held } from "./held";

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
        <p class="note">{t.words.askForScope("rewards:read")}</p>
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
  if (!answer) return <p class="waiting">{t.words.wait}</p>;
  const { summary, breakdown, hotspots, period: span } = answer.data;
  const tile = (name: string, amount: number) => (
    <div>
      <dt>{name}</dt>
      <dd>
        <Credits amount={amount} />
      </dd>
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
      {period !== "all" && (
        <section class="card wide">
          <Earnings month={span.start.slice(0, 7)} />
        </section>
      )}
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
                <td class="number">
                  <Credits amount={hotspot.earned} />
                </td>
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
        <Table label="Rewards by month" columns={[["Month"], ["Earned", "number"], ["Hotspots", "number spare"], ["Availability", "number spare"], ["Statement"]]}>
          {answer.data.map((month) => (
            <tr key={month.period}>
              <th scope="row">
                {format.month(month.period)}
                <span class="small instead">
                  {format.count(month.hotspot_count)} hotspots, {format.percent(month.avg_availability)} available
                </span>
              </th>
              <td class="number">
                <Credits amount={month.total_earned} />
              </td>
              <td class="number spare">{format.count(month.hotspot_count)}</td>
              <td class="number spare">{format.percent(month.avg_availability)}</td>
              <td>
                <Statements period={month.period} busy={download.busy} onDownload={(type) => download.run(() => keep(month.period, type))} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager pagination={answer?.pagination} onPage={setPage} />
      <p class="hint">
        A statement has a row for each hotspot and day. The spreadsheet has names, and amounts in credits; CSV and JSON are for programs, and anyone can check
        them: <code>beacon rewards verify FILE</code>.
      </p>
    </section>
  );
}

type Form = "json" | "csv" | "table";
const forms: [Form, string][] = [
  ["table", "Spreadsheet"],
  ["csv", "CSV"],
  ["json", "JSON"],
];

function Statements({ period, busy, onDownload }: { period: string; busy: boolean; onDownload: (form: Form) => void }) {
  if (!isOver(period)) return <span class="small">after the month is settled</span>;
  return (
    <span class="line">
      {forms.map(([form, name]) => (
        <button type="button" class="quiet" key={form} disabled={busy} onClick={() => onDownload(form)}>
          {name} <span class="sr-only">of {period}</span>
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
async function keep(period: string, form: Form): Promise<void> {
  const path = `/v1/users/me/rewards/statements/${period}`;
  if (form === "table") {
    const [statement, rewards] = await Promise.all([ask<Statement>(path), ask<Rewards>("/v1/users/me/rewards?period=all")]);
    const names = new Map(rewards.data.hotspots.map(({ hotspot_id, name }) => [hotspot_id, name]));
    saveCSV(`beacon-days-${period}.csv`, statementCSV(statement.data, names));
    return;
  }
  const response = await send(path, { headers: { Accept: form === "csv" ? "text/csv" : "application/json" } });
  save(`beacon-statement-${period}.${form}`, await response.blob());
}
