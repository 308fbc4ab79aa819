// What the devices of the network run, and which of them to look at.
import type { Inventory } from "./types";

type Group = Inventory["groups"][number];

/** What devices are told apart by; the server filters by the same names. */
export const parts = ["model", "firmware", "agent"] as const;
export type Part = (typeof parts)[number];
export type Filter = Partial<Record<Part, string>>;

/** Reads a filter from the query of an address. */
export function filterOf(query: Record<string, string>): Filter {
  return Object.fromEntries(parts.flatMap((part) => (query[part] ? [[part, query[part]]] : [])));
}

/** The address of the inventory with a filter. */
export function addressOf(filter: Filter): string {
  const query = new URLSearchParams(filterOf(filter)).toString();
  return `/staff/inventory${query && `?${query}`}`;
}

export function matching(groups: Group[], filter: Filter): Group[] {
  return groups.filter((group) => parts.every((part) => !filter[part] || filter[part] === group[part]));
}

/** What there is of a part, and how many devices have it, the most frequent first. Those that do not say are left out. */
export function values(groups: Group[], part: Part): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const group of groups) if (group[part]) counts.set(group[part], (counts.get(group[part]) ?? 0) + group.count);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

/** The versions of the agent that come before another, and how many devices have each. */
export function outdated(groups: Group[], than: string): [version: string, count: number][] {
  return values(groups, "agent").filter(([version]) => isOlder(version, than));
}

/** Whether a version comes before another. Of what is not numbers with dots, nobody can tell. */
export function isOlder(version: string, than: string): boolean {
  if (![version, than].every((text) => /^\d+(\.\d+)*$/.test(text))) return false;
  const [have, want] = [version, than].map((text) => text.split(".").map(Number)) as [number[], number[]];
  const at = want.findIndex((n, i) => n !== (have[i] ?? 0));
  return at >= 0 && (have[at] ?? 0) < (want[at] ?? 0);
}
