// What days earned a hotspot. Each is a request; but what was answered for a day
// that is over is answered for ever, so it is asked for once.
import { ask } from "./api";
import { session } from "./session";
import type { Explanation } from "./types";

const over = new Map<string, Explanation>();
session.who.watch(() => over.clear()); // what one may see, another may not

export async function explain(id: string, date: string, signal: AbortSignal): Promise<Explanation> {
  const path = `/v1/hotspots/${encodeURIComponent(id)}/rewards/explain?date=${date}`;
  const known = over.get(path);
  if (known) return known;
  const { data } = await ask<Explanation>(path, { signal });
  if (!data.open) over.set(path, data);
  return data;
}

/** The days up to one and not before another, the last first, as the server writes them. */
export function lastDays(until: string, count: number, since: string): string[] {
  const end = Date.parse(`${until}T00:00:00Z`);
  const days = Array.from({ length: count }, (_, i) => new Date(end - i * 86_400_000).toISOString().slice(0, 10));
  return days.filter((day) => day >= since);
}
