// What is said of a hold, to staff and to its operator.
import type { Hold } from "./types";

const dayLength = 86_400_000;
export const longest = 30; // days that a hold may last from now on

/** The day on which a hold ends at the latest, if it is set at a moment. */
export function latestEnd(now: number): string {
  return new Date(now + longest * dayLength).toISOString().slice(0, 10);
}

/** The first day on which it can end. */
export function soonestEnd(now: number): string {
  return new Date(now + dayLength).toISOString().slice(0, 10);
}

/** What the server calls the moment at which a day begins. */
export const beginOf = (day: string): string => `${day}T00:00:00Z`;

/** Whom a typed id asks to hold. */
export function target(id: string): { hotspot_id: string } | { operator_id: string } {
  const clean = id.trim();
  return clean.startsWith("usr_") ? { operator_id: clean } : { hotspot_id: clean };
}

/** The holds of a list that concern a hotspot, or any, and keep something from being paid. */
export function holding(holds: Hold[], hotspot?: string): Hold[] {
  return holds.filter((hold) => hold.status !== "released" && (!hotspot || !hold.hotspot_id || hold.hotspot_id === hotspot));
}
