// What each of the last days earned a hotspot, and why not more.
import { Fragment } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, isAbort } from "../api";
import { today } from "../clock";
import { explain, lastDays } from "../days";
import * as format from "../format";
import { t } from "../messages";
import { Credits } from "../parts/credits";
import { Field } from "../parts/field";
import { ErrorNote } from "../parts/note";
import { Table } from "../parts/table";
import { useInSight, useReturn } from "../parts/use";
import type { Explanation } from "../types";

const atFirst = 7; // each is a request
const together = 2; // requests at a time

/** Shows the days since a hotspot was registered, the last first. */
export function Days({ id, since, wanted }: { id: string; since: string; wanted: boolean }) {
  const [until, setUntil] = useState(today);
  const [shown, setShown] = useState(atFirst);
  const [chosen, setChosen] = useState("");
  const [days, setDays] = useState<Map<string, Explanation | null>>(new Map()); // null: who had the hotspot then earned it
  const [error, setError] = useState<unknown>();
  const [again, setAgain] = useState(0);
  const [section, inSight] = useInSight<HTMLElement>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!inSight) return;
    const stop = new AbortController();
    const waiting = lastDays(until, shown, since);
    const worker = async (): Promise<void> => {
      for (let date = waiting.shift(); date; date = waiting.shift()) {
        const asked = date;
        const day = await explain(id, asked, stop.signal).catch((failed: unknown) => {
          if (failed instanceof ApiError && failed.status === 403) return null;
          throw failed;
        });
        setDays((before) => new Map(before).set(asked, day));
      }
    };
    setError(undefined);
    Promise.all(Array.from({ length: together }, worker)).catch((failed: unknown) => {
      if (!isAbort(failed)) setError(failed);
      stop.abort();
    });
    return () => stop.abort();
  }, [id, since, until, shown, inSight, again]);
  useReturn(
    error,
    useCallback(() => setAgain((n) => n + 1), []),
  );
  useEffect(() => {
    if (!wanted) return;
    heading.current?.focus({ preventScroll: true }); // who goes by keyboard, or by ear, goes on here
    section.current?.scrollIntoView();
  }, [wanted]);
  const listed = lastDays(until, shown, since);
  return (
    <section class="card wide" ref={section}>
      <div class="head">
        <h2 tabIndex={-1} ref={heading}>
          {t.day.title}
        </h2>
        <Field
          label={t.day.last}
          type="date"
          min={since}
          max={today()}
          value={until}
          onChange={(event) => event.currentTarget.value && setUntil(event.currentTarget.value)}
        />
      </div>
      <ErrorNote error={error} />
      <Table label={t.day.title} columns={[[t.day.day], [t.words.earned, "number"], [t.day.possible, "number spare"], [t.day.served, "number spare"], [t.day.why, "action"]]}>
        {listed.map((date) => {
          const day = days.get(date);
          return (
            <Fragment key={date}>
              <tr>
                <th scope="row">
                  {format.date(date)}
                  {day?.open ? t.words.soFar : ""}
                </th>
                <td class="number">{day ? <Credits amount={day.earned.total} /> : day === null ? <span class="small">{t.day.others}</span> : "…"}</td>
                <td class="number spare">{day ? <Credits amount={day.potential.total} /> : ""}</td>
                <td class="number spare">{day ? t.words.of(format.minutes(day.facts.served_minutes), format.minutes(day.facts.expected_minutes)) : ""}</td>
                <td class="action">
                  <button
                    type="button"
                    class="quiet"
                    disabled={!day}
                    aria-expanded={chosen === date}
                    onClick={() => setChosen(chosen === date ? "" : date)}
                  >
                    {t.day.explain} <span class="sr-only">{format.date(date)}</span>
                  </button>
                </td>
              </tr>
              {day && chosen === date && (
                <tr>
                  <td colSpan={5}>
                    <DayExplained day={day} />
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </Table>
      {listed.length === shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + atFirst)}>
          {t.day.more(atFirst)}
        </button>
      )}
    </section>
  );
}

/** How a day came to what it earned. */
function DayExplained({ day }: { day: Explanation }) {
  const date = format.date(day.date);
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [date]);
  const line = (name: string, { availability, performance, utilization, total }: Explanation["earned"], sign = "") => (
    <tr key={name}>
      <th scope="row">{name}</th>
      {[availability, performance, utilization, total].map((amount, i) => (
        <td class="number" key={i}>
          {amount > 0 ? sign : ""}
          {format.exact(amount)}
        </td>
      ))}
    </tr>
  );
  return (
    <section class="explained" aria-live="polite" ref={section}>
      <h3>{day.open ? t.day.soFar(date) : date}</h3>
      <p class="small">
        {t.day.facts(
          format.minutes(day.facts.served_minutes),
          format.minutes(day.facts.expected_minutes),
          format.traffic(day.facts.traffic_bytes / 1e9),
          t.tier[day.facts.performance_tier],
          day.policy.version,
        )}
      </p>
      {day.approximate && <p class="note">{t.day.approximate}</p>}
      {day.hold && day.hold.status !== "released" && (
        <p class="note">{day.hold.status === "active" ? t.day.heldBack(day.hold.reason) : t.day.notPaid(day.hold.reason)}</p>
      )}
      <Table
        label={t.day.table(date)}
        columns={[[t.day.inCredits], [t.rewards.availability, "number"], [t.rewards.performance, "number"], [t.rewards.utilization, "number"], [t.day.total, "number"]]}
        foot={line(t.words.earned, day.earned)}
      >
        {line(t.day.possible, day.potential)}
        {day.losses.map((loss) => line(lossText(loss), loss, "−"))}
      </Table>
    </section>
  );
}

/** Why something was not earned. The server says it in English. */
function lossText({ reason, minutes, explanation }: Explanation["losses"][number]): string {
  const known = t.day.losses[reason];
  if (!known) return explanation;
  return minutes === undefined ? known : t.day.lossOf(known, format.minutes(minutes));
}
