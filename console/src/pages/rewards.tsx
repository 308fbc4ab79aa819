// What an operator earned.
import { useState } from "preact/hooks";
import { ask, send } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { Credits } from "../parts/credits";
import { Tiles, type Fact } from "../parts/facts";
import { Lacks } from "../parts/lacks";
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
  { id: "current", name: t.rewards.thisMonth },
  { id: "last", name: t.rewards.lastMonth },
  { id: "all", name: t.words.all },
];

export function RewardsPage() {
  const [period, setPeriod] = useState("current");
  if (!session.may("rewards") || !session.hasAccount) {
    return (
      <section class="page">
        <h1>{t.app.rewards}</h1>
        <Lacks of="rewards" ask />
      </section>
    );
  }
  return (
    <section class="page">
      <div class="head">
        <h1>{t.app.rewards}</h1>
        <Tabs label={t.rewards.period} tabs={periods} chosen={period} onChoose={setPeriod} />
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
  const tile = (name: string, amount: number): Fact => [name, <Credits amount={amount} />];
  return (
    <>
      <p class="hint">{t.rewards.inCredits(period === "all" ? t.rewards.allMonths : t.rewards.thisPeriod, t.rewards.monthStatus[span.status])}</p>
      <Tiles
        of={[
          tile(t.words.earned, summary.total_earned),
          tile(t.words.pending, summary.pending),
          tile(t.rewards.settled, summary.settled),
          summary.held > 0 && tile(t.words.held, summary.held),
          summary.voided > 0 && tile(t.rewards.void, summary.voided),
        ]}
      />
      <Tiles
        class="tiles minor"
        of={[
          tile(t.rewards.availability, breakdown.availability),
          tile(t.rewards.performance, breakdown.performance),
          tile(t.rewards.utilization, breakdown.utilization),
        ]}
      />
      {period !== "all" && (
        <section class="card wide">
          <Earnings month={span.start.slice(0, 7)} />
        </section>
      )}
      <section class="card wide">
        <h2>{t.rewards.byHotspot}</h2>
        {hotspots.length === 0 && <p>{t.rewards.none}</p>}
        {hotspots.length > 0 && (
          <Table label={t.rewards.table} columns={[[t.rewards.hotspot], [t.words.earned, "number"], [t.rewards.availability, "number spare"], [t.words.tier, "spare"], [t.words.days, "action"]]}>
            {hotspots.map((hotspot) => (
              <tr key={hotspot.hotspot_id}>
                <th scope="row">
                  {hotspot.name}
                  <span class="small instead">{t.rewards.row(format.percent(hotspot.availability_score), t.tier[hotspot.performance_tier])}</span>
                </th>
                <td class="number">
                  <Credits amount={hotspot.earned} />
                </td>
                <td class="number spare">{format.percent(hotspot.availability_score)}</td>
                <td class="spare">{t.tier[hotspot.performance_tier]}</td>
                <td class="action">
                  <a href={`#/hotspots/${hotspot.hotspot_id}/days`}>
                    {t.rewards.byDay} <span class="sr-only">{t.rewards.of(hotspot.name)}</span>
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
      <h2>{t.rewards.byMonth}</h2>
      <ErrorNote error={error} />
      <ErrorNote error={download.error} />
      {answer && answer.data.length === 0 && <p>{t.rewards.noneYet}</p>}
      {answer && answer.data.length > 0 && (
        <Table label={t.rewards.months} columns={[[t.words.month], [t.words.earned, "number"], [t.words.hotspots, "number spare"], [t.rewards.availability, "number spare"], [t.rewards.statement, "spare"]]}>
          {answer.data.map((month) => {
            const statements = <Statements period={month.period} busy={download.busy} onDownload={(type) => download.run(() => keep(month.period, type))} />;
            return (
              <tr key={month.period}>
                <th scope="row">
                  {format.month(month.period)}
                  <span class="small instead">{t.rewards.monthRow(format.count(month.hotspot_count), format.percent(month.avg_availability))}</span>
                  <span class="instead">{statements}</span>
                </th>
                <td class="number">
                  <Credits amount={month.total_earned} />
                </td>
                <td class="number spare">{format.count(month.hotspot_count)}</td>
                <td class="number spare">{format.percent(month.avg_availability)}</td>
                <td class="spare">{statements}</td>
              </tr>
            );
          })}
        </Table>
      )}
      <Pager pagination={answer?.pagination} onPage={setPage} />
      <p class="hint">{t.rewards.about(<code>beacon rewards verify FILE</code>)}</p>
    </section>
  );
}

type Form = "json" | "csv" | "table";
const forms: [Form, string][] = [
  ["table", t.rewards.spreadsheet],
  ["csv", t.rewards.csv],
  ["json", t.rewards.json],
];

function Statements({ period, busy, onDownload }: { period: string; busy: boolean; onDownload: (form: Form) => void }) {
  if (!isOver(period)) return <span class="small">{t.rewards.afterSettling}</span>;
  return (
    <span class="line">
      {forms.map(([form, name]) => (
        <button type="button" class="quiet" key={form} disabled={busy} onClick={() => onDownload(form)}>
          {name} <span class="sr-only">{t.rewards.of(period)}</span>
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
