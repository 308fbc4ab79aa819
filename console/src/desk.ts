// What the first page of staff says, without the drawing.
import * as format from "./format";
import { t } from "./messages";
import { locale } from "./messages/language";
import type { Overview } from "./types";

/** A part of a whole; null of nothing. All and none are said only where that is so: 9,999 of 10,000 are 99.9 %. */
export function share(part: number, whole: number): number | null {
  if (whole === 0) return null;
  if (part === 0 || part === whole) return part / whole;
  return Math.min(Math.max(Math.floor((part / whole) * 1000) / 1000, 0.001), 0.999);
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

/** How long ago a moment is, in its largest unit: such as “3 days”. */
export function ago(at: number, now: number): string {
  const past = Math.max(now - at, 60_000);
  const [unit, length] = units.find(([, length]) => past >= length) ?? ["minute", 60_000];
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(Math.floor(past / length));
}

/** The days of a trend in words: the last one, and how much better or worse it was than those before it. */
export function trend(days: Overview["uptime"]): string {
  const last = days.at(-1);
  const before = days.slice(0, -1);
  if (!last) return "";
  const on = t.desk.on(format.percent(last.uptime), format.day(last.date));
  if (before.length === 0) return on;
  return t.desk.compared(on, format.percent(before.reduce((sum, { uptime }) => sum + uptime, 0) / before.length));
}

const dayLength = 86_400_000; // milliseconds

/** The days of a trend as a chart has them: their numbers since 1970, and how these are written. */
export function daysOf(days: Overview["uptime"]): { at: number[]; name: (i: number) => string; mark: (at: number) => string } {
  return {
    at: days.map(({ date }) => Date.parse(date) / dayLength),
    name: (i) => format.date(days[i]?.date ?? ""),
    mark: (at) => format.day(new Date(at * dayLength).toISOString().slice(0, 10)),
  };
}

/** What comes after something in a queue, or the first if it is the last or gone; empty: nothing else is left. */
export function next(queue: { id: string }[], done: string): string {
  const at = queue.findIndex(({ id }) => id === done);
  const id = (queue[at + 1] ?? queue[0])?.id;
  return id === undefined || id === done ? "" : id;
}
