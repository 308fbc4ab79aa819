// What an operator's first page says, without the drawing.
import { toCSV } from "./csv";
import * as format from "./format";
import { t } from "./messages";
import type { Explanation, Hold, Hotspot, NetworkEvent, Rewards, Status } from "./types";

export type Earnings = Map<string, number>; // credits of this month, by hotspot

/** The network of an operator in one line. */
export function headline(online: number, total: number, earned: number | undefined): string {
  const all = t.home.online(format.count(online), format.count(total));
  return earned === undefined ? all : t.home.headline(all, format.credits(earned));
}

export interface Attention {
  id: string; // of the hotspot; empty: several, or all of them
  name: string;
  what: string;
  why: string; // what to do about it
  among: Named[]; // the hotspots, if there are several
}

export type Named = Pick<Hotspot, "id" | "name">;

const day = 24 * 3_600_000; // milliseconds
const recent = 7 * day;
const soon = 30 * day;
const together = 3 * 60_000; // what falls silent within this time does so for one cause
const low = 0.9; // of 30 days
/** From which part of what a hotspot could earn on a day it is told that others have it. */
const covered = 0.5;

/** Which part of what a hotspot could have earned on a day is others'. */
export interface Shared extends Named {
  part: number;
}

/** One line about hotspots with the same cause. */
function about(among: Named[], what: string, why: string): Attention[] {
  const [first] = among;
  if (!first) return [];
  if (among.length === 1) return [{ id: first.id, name: first.name, what, why, among: [] }];
  return [{ id: "", name: t.words.hotspotCount(among.length, format.count(among.length)), what, why, among }];
}

/** What an operator should look at, the worst first. Equal causes are one. */
export function attention(hotspots: Hotspot[], holds: Hold[], now: number, shared: Shared[] = []): Attention[] {
  const names = new Map(hotspots.map(({ id, name }) => [id, name]));
  const fell = hotspots.filter(({ metrics: { counters_fell_at: at } }) => at && now - Date.parse(at) < recent);
  const slack = hotspots.filter(({ status, metrics }) => status === "online" && metrics.uptime_30d < low);
  const least = Math.min(...slack.map(({ metrics }) => metrics.uptime_30d));
  return [
    ...holds
      .filter(({ status }) => status === "active")
      .map(({ hotspot_id, reason, until }) => ({
        id: hotspot_id ?? "",
        name: hotspot_id ? (names.get(hotspot_id) ?? format.shortId(hotspot_id)) : t.home.all,
        what: t.home.rewardsHeld,
        why: t.home.heldUntil(reason, format.time(until)),
        among: [],
      })),
    ...outages(hotspots).flatMap((silent) => about(silent, ...outage(silent, now))),
    ...about(fell, t.home.countersFell, t.home.countersWhy(format.time(fell.map(({ metrics }) => metrics.counters_fell_at ?? "").sort().at(-1) ?? ""))),
    ...about(slack, t.home.lowUptime, t.home.lowWhy(slack.length, format.percent(least))),
    ...shared.filter(({ part }) => part >= covered).flatMap(({ id, name, part }) => about([{ id, name }], t.home.covered, t.home.coveredWhy(format.percent(part)))),
    ...alike(hotspots.filter(({ status }) => status === "pending"), toDo).flatMap(([why, among]) => about(among, t.status.pending, why)),
    ...alike(hotspots.filter(({ location: { proven_until: until } }) => until && Date.parse(until) - now < soon), (hotspot) => proof(hotspot, now)).flatMap(([what, among]) =>
      about(among, what, t.home.proofWhy(format.time(among.map(({ location }) => location.proven_until ?? "").sort()[0] ?? ""))),
    ),
  ];
}

const proof = ({ location }: Hotspot, now: number): string => (Date.parse(location.proven_until ?? "") > now ? t.home.proofEnds : t.home.proofEnded);

/** Offline hotspots by when they fell silent, the largest outage first. */
function outages(hotspots: Hotspot[]): Hotspot[][] {
  const at = ({ metrics }: Hotspot): number => Date.parse(metrics.last_seen_at ?? "") || 0;
  const all: Hotspot[][] = [];
  for (const hotspot of hotspots.filter(({ status }) => status === "offline").sort((a, b) => at(b) - at(a))) {
    const last = all.at(-1);
    if (last?.[0] && at(last[0]) - at(hotspot) <= together) last.push(hotspot);
    else all.push([hotspot]);
  }
  return all.sort((a, b) => b.length - a.length);
}

function outage(silent: Hotspot[], now: number): [what: string, why: string] {
  const seen = silent.at(-1)?.metrics.last_seen_at ?? null;
  if (silent.length === 1) return [t.status.offline, t.home.lastHeard(format.ago(seen, now))];
  return seen ? [t.home.offlineSince(format.time(seen)), t.home.offlineTogether] : [t.status.offline, t.home.neverHeard];
}

/** Hotspots by what is said of them, in the order in which it is first said. */
function alike(hotspots: Hotspot[], say: (hotspot: Hotspot) => string): [string, Hotspot[]][] {
  const groups = new Map<string, Hotspot[]>();
  for (const hotspot of hotspots) groups.set(say(hotspot), [...(groups.get(say(hotspot)) ?? []), hotspot]);
  return [...groups];
}

const looked = 5; // hotspots whose day is explained

/** The hotspots that served well and earned least, of those that were there before a day. */
export function leastPaid(rewards: Rewards["hotspots"], date: string): Named[] {
  return rewards
    .filter(({ hotspot_id: id, availability_score }) => availability_score >= low && bornAt(id) < Date.parse(date))
    .sort((a, b) => a.earned - b.earned || (a.hotspot_id < b.hotspot_id ? -1 : 1))
    .slice(0, looked)
    .map(({ hotspot_id: id, name }) => ({ id, name }));
}

/** When a hotspot was registered: its id begins with the milliseconds, in Crockford's base 32. */
const bornAt = (id: string): number => [...id.slice(3, 13)].reduce((sum, digit) => sum * 32 + "0123456789abcdefghjkmnpqrstvwxyz".indexOf(digit), 0);

/** Which part of what a hotspot could have earned on a day went to others that cover the same ground. */
export function sharedPart({ losses, potential }: Pick<Explanation, "losses" | "potential">): number {
  const lost = losses.filter(({ reason }) => reason === "shared").reduce((sum, { total }) => sum + total, 0);
  return potential.total > 0 ? lost / potential.total : 0;
}

/** The day before one such as 2026-11-15. */
export const dayBefore = (date: string): string => new Date(Date.parse(date) - day).toISOString().slice(0, 10);

/** What a pending hotspot waits for. */
export function toDo({ location, device }: Pick<Hotspot, "location" | "device">): string {
  const missing = [
    !location.verified && (location.unverified_reason ? t.home.noLongerVerified(location.unverified_reason) : t.home.toVerify),
    !device.linked && t.home.toLink,
  ].filter(Boolean);
  return missing.join(" ");
}

export type Order = "name" | "status" | "uptime" | "traffic" | "earned";

export interface Choice {
  text: string;
  status: Status | "";
  order: Order;
  down: boolean; // the greatest first
}

const ranks: Record<Status, number> = { offline: 0, pending: 1, online: 2 };

/** The hotspots to show, in order. */
export function choose(hotspots: Hotspot[], { text, status, order, down }: Choice, earned: Earnings): Hotspot[] {
  const wanted = text.trim().toLowerCase();
  const value = (h: Hotspot): number =>
    ({ name: 0, status: ranks[h.status], uptime: h.metrics.uptime_30d, traffic: h.metrics.bandwidth_used_24h_gb, earned: earned.get(h.id) ?? 0 })[order];
  const byName = (a: Hotspot, b: Hotspot): number => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1);
  return hotspots
    .filter((h) => (status === "" || h.status === status) && `${h.name} ${h.location.address ?? ""}`.toLowerCase().includes(wanted))
    .sort((a, b) => {
      if (order === "name") return down ? byName(b, a) : byName(a, b);
      return (down ? value(b) - value(a) : value(a) - value(b)) || byName(a, b);
    });
}

/** What is on screen, as a file. */
export function hotspotsCSV(hotspots: Hotspot[], earned: Earnings | undefined): string {
  const columns = ["hotspot_id", "name", "type", "status", "address", "lat", "lng", "uptime_30d", "traffic_24h_gb", "last_seen_at"];
  if (earned) columns.push("earned_this_month", "unit");
  return toCSV(
    columns,
    hotspots.map((h) => [
      ...[h.id, h.name, h.type, h.status, h.location.address, h.location.lat, h.location.lng],
      ...[h.metrics.uptime_30d, h.metrics.bandwidth_used_24h_gb, h.metrics.last_seen_at],
      ...(earned ? [earned.get(h.id) ?? 0, "credit"] : []),
    ]),
  );
}

/** An event in words, with the name of its hotspot. */
export function inWords(event: NetworkEvent, names: Map<string, string>): string {
  const what = t.home.events[event.type] ?? event.type;
  return event.hotspot_id ? `${names.get(event.hotspot_id) ?? format.shortId(event.hotspot_id)} ${what}` : what;
}
