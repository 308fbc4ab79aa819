// What a chart needs to know, without the drawing.

/** Separates values into those that are final and the last one, if its time is not over. A line reaches the unfinished value from the one before it. */
export function parted(values: (number | null)[], unfinished: boolean, bars: boolean): [done: (number | null)[], open: (number | null)[]] {
  const last = lastIndex(values);
  if (!unfinished || last < 0) return [values, values.map(() => null)];
  const done = values.map((value, i) => (i === last ? null : value));
  const open = values.map((value, i) => (i === last || (!bars && i === last - 1) ? value : null));
  return [done, open];
}

/** Where the last value is; -1 if there is none. */
export function lastIndex(values: (number | null)[]): number {
  let last = values.length - 1;
  while (last >= 0 && values[last] === null) last--;
  return last;
}

/** Where a scale of shares up to all may begin. */
const floors = [0.99, 0.95, 0.9, 0.75, 0.5];

/** Where a scale of shares begins, so that their differences can be seen and the lowest one has a bar. */
export function floorOf(shares: (number | null)[]): number {
  const known = shares.filter((share) => share !== null);
  const lowest = Math.min(...known);
  return known.length === 0 ? 0 : (floors.find((floor) => lowest - floor >= (1 - floor) / 10) ?? 0);
}

/** Which value a key leads to; null if it is not for the chart. */
export function moved(key: string, from: number, count: number): number | null {
  const steps: Record<string, number> = {
    ArrowLeft: from - 1,
    ArrowDown: from - 1,
    ArrowRight: from + 1,
    ArrowUp: from + 1,
    PageDown: from - 7,
    PageUp: from + 7,
    Home: 0,
    End: count - 1,
  };
  const to = steps[key];
  return to === undefined || count === 0 ? null : Math.min(Math.max(to, 0), count - 1);
}

/** Whether the span that begins at a time (both in seconds) is not over. */
export const isUnfinished = (begin: number | undefined, step: number, now: number): boolean => begin !== undefined && begin + step > now;

/** The month before one such as 2026-01. */
export function monthBefore(period: string): string {
  const [year = 0, month = 1] = period.split("-").map(Number);
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7);
}
