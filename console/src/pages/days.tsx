// What each of the last days earned a hotspot, and why not more.
import { useEffect, useState } from "preact/hooks";
import { ask, isAbort } from "../api";
import * as format from "../format";
import { Field } from "../parts/field";
import { ErrorNote } from "../parts/note";
import { useAsk } from "../parts/use";
import type { Explanation } from "../types";

const shown = 14;
const together = 4; // requests at a time

const today = (): string => new Date().toISOString().slice(0, 10);

function lastDays(until: string): string[] {
  const end = Date.parse(`${until}T00:00:00Z`);
  return Array.from({ length: shown }, (_, i) => new Date(end - i * 86_400_000).toISOString().slice(0, 10));
}

export function Days({ id }: { id: string }) {
  const [until, setUntil] = useState(today);
  const [chosen, setChosen] = useState("");
  const [days, setDays] = useState<Map<string, Explanation>>(new Map());
  const [error, setError] = useState<unknown>();
  const path = `/v1/hotspots/${encodeURIComponent(id)}/rewards/explain`;
  useEffect(() => {
    const stop = new AbortController();
    const waiting = lastDays(until);
    const worker = async (): Promise<void> => {
      for (let date = waiting.shift(); date; date = waiting.shift()) {
        const { data } = await ask<Explanation>(`${path}?date=${date}`, { signal: stop.signal });
        setDays((before) => new Map(before).set(data.date, data));
      }
    };
    setError(undefined);
    Promise.all(Array.from({ length: together }, worker)).catch((failed: unknown) => {
      if (!isAbort(failed)) setError(failed);
      stop.abort();
    });
    return () => stop.abort();
  }, [path, until]);
  return (
    <section class="card wide">
      <div class="head">
        <h2>Rewards by day</h2>
        <Field
          label="Up to"
          type="date"
          max={today()}
          value={until}
          onChange={(event) => event.currentTarget.value && setUntil(event.currentTarget.value)}
        />
      </div>
      <ErrorNote error={error} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Rewards by day">
        <table>
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" class="number">
                Earned
              </th>
              <th scope="col" class="number">
                Of
              </th>
              <th scope="col" class="number">
                Served
              </th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {lastDays(until).map((date) => {
              const day = days.get(date);
              return (
                <tr key={date}>
                  <th scope="row">
                    {date}
                    {day?.open ? " (so far)" : ""}
                  </th>
                  <td class="number">{day ? format.credits(day.earned.total) : "…"}</td>
                  <td class="number">{day ? format.credits(day.potential.total) : ""}</td>
                  <td class="number">{day ? `${format.minutes(day.facts.served_minutes)} of ${format.minutes(day.facts.expected_minutes)}` : ""}</td>
                  <td>
                    <button type="button" class="quiet" aria-expanded={chosen === date} onClick={() => setChosen(chosen === date ? "" : date)}>
                      Explain <span class="sr-only">{date}</span>
                    </button>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {chosen && <DayExplained id={id} date={chosen} />}
    </section>
  );
}

/** How a day came to what it earned. */
function DayExplained({ id, date }: { id: string; date: string }) {
  const { answer, error } = useAsk<Explanation>(`/v1/hotspots/${encodeURIComponent(id)}/rewards/explain?date=${date}`);
  if (error) return <ErrorNote error={error} />;
  if (!answer) return <p class="waiting">One moment…</p>;
  const day = answer.data;
  const line = (name: string, { availability, performance, utilization, total }: Explanation["earned"], sign = "") => (
    <tr key={name}>
      <th scope="row">{name}</th>
      {[availability, performance, utilization, total].map((amount, i) => (
        <td class="number" key={i}>
          {amount > 0 ? sign : ""}
          {format.credits(amount)}
        </td>
      ))}
    </tr>
  );
  return (
    <section class="explained" aria-live="polite">
      <h3>
        {date}
        {day.open ? ", so far" : ""}
      </h3>
      <p class="small">
        {format.minutes(day.facts.served_minutes)} served of {format.minutes(day.facts.expected_minutes)} expected ·{" "}
        {format.gigabytes(day.facts.traffic_bytes / 1e9)} carried · tier {day.facts.performance_tier} · policy {day.policy.version}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Explanation of ${date}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">In credits</th>
              <th scope="col" class="number">
                Availability
              </th>
              <th scope="col" class="number">
                Performance
              </th>
              <th scope="col" class="number">
                Utilization
              </th>
              <th scope="col" class="number">
                Total
              </th>
            </tr>
          </thead>
          <tbody>
            {line("Possible", day.potential)}
            {day.losses.map((loss) => line(loss.explanation, loss, "−"))}
          </tbody>
          <tfoot>{line("Earned", day.earned)}</tfoot>
        </table>
      </div>
    </section>
  );
}
