// How far the books are, for admins.
import { useState } from "preact/hooks";
import * as format from "../format";
import { t } from "../messages";
import { ErrorNote } from "../parts/note";
import { Table } from "../parts/table";
import { useAsk } from "../parts/use";
import type { Bookkeeping } from "../types";
import { BooksByHand } from "./books";
import { Desk } from "./staff";

export function MonthsPage() {
  const [version, setVersion] = useState(0);
  return (
    <Desk at="/months" title={t.staff.months} needs="books">
      <p class="hint">{t.months.about((text) => <a href="/docs/quickstart-staff#rewards">{text}</a>)}</p>
      <Months version={version} />
      <BooksByHand onChange={() => setVersion((n) => n + 1)} />
    </Desk>
  );
}

function Months({ version }: { version: number }) {
  const { answer, error } = useAsk<Bookkeeping>("/v1/rewards/months", version);
  if (!answer) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const { closed_through: through, closing, months } = answer.data;
  return (
    <section class="card wide">
      <ErrorNote error={error} />
      <p role="status">
        {through ? t.months.closedThrough(format.date(through)) : t.months.noneClosed}
        {closing && t.months.closing(format.date(closing.day), format.count(closing.hotspots))}
      </p>
      {months.length > 0 && (
        <Table label={t.staff.months} columns={[[t.words.month], [t.words.status], [t.months.daysClosed, "spare"], [t.months.statements, "spare"], [t.words.earned, "number"]]}>
          {months.map((month) => (
            <tr key={month.period}>
              <th scope="row">
                {format.month(month.period)}
                <span class="small instead">
                  {t.months.row(month.closed_days, month.days, format.count(month.statements), format.count(month.users))}
                </span>
              </th>
              <td>{t.months.status[month.status]}</td>
              <td class="spare">
                <Meter value={month.closed_days} of={month.days} label={t.months.daysOf(format.month(month.period))} />
              </td>
              <td class="spare">
                <Meter value={month.statements} of={month.users} label={t.months.statementsOf(format.month(month.period))} />
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
      <progress value={value} max={Math.max(of, 1)} aria-label={label} /> {t.words.of(format.count(value), format.count(of))}
    </>
  );
}
