// How far the books are, for admins.
import * as format from "../format";
import { t } from "../messages";
import { ErrorNote } from "../parts/note";
import { Table } from "../parts/table";
import { useAsk } from "../parts/use";
import type { Bookkeeping } from "../types";
import { Desk } from "./staff";

const statusTexts = { in_progress: "in progress", finalizing: "finalizing", settled: "settled" };

export function MonthsPage() {
  return (
    <Desk at="/months" title="Months" scope="admin">
      <p class="hint">
        Each day is closed a few minutes after midnight UTC, and each month settled 72 hours after its end. <a href="/docs/quickstart-staff#rewards">If that does not happen</a>
      </p>
      <Months />
    </Desk>
  );
}

function Months() {
  const { answer, error } = useAsk<Bookkeeping>("/v1/rewards/months");
  if (!answer) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const { closed_through: through, closing, months } = answer.data;
  return (
    <section class="card wide">
      <ErrorNote error={error} />
      <p role="status">
        {through ? `All days through ${through} are closed.` : "No day is closed yet."}
        {closing && ` ${closing.day} is being closed: ${format.count(closing.hotspots)} hotspots so far.`}
      </p>
      {months.length > 0 && (
        <Table label="Months" columns={[["Month"], ["Status"], ["Days closed", "spare"], ["Statements", "spare"], ["Earned", "number"]]}>
          {months.map((month) => (
            <tr key={month.period}>
              <th scope="row">
                {format.month(month.period)}
                <span class="small instead">
                  {month.closed_days} of {month.days} days closed, {format.count(month.statements)} of {format.count(month.users)} statements
                </span>
              </th>
              <td>{statusTexts[month.status]}</td>
              <td class="spare">
                <Meter value={month.closed_days} of={month.days} label={`Days of ${month.period} that are closed`} />
              </td>
              <td class="spare">
                <Meter value={month.statements} of={month.users} label={`Statements of ${month.period}`} />
              </td>
              <td class="number">{format.credits(month.total_earned)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function Meter({ value, of, label }: { value: number; of: number; label: string }) {
  return (
    <>
      <progress value={value} max={Math.max(of, 1)} aria-label={label} /> {format.count(value)} of {format.count(of)}
    </>
  );
}
