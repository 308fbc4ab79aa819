// What an operator's first page says, without the drawing.
import { toCSV } from "./csv";
import * as format from "./format";
import { t } from "./messages";
import type { Hold, Hotspot, NetworkEvent, Status } from "./types";

export type Earnings = Map<string, number>; // credits of this month, by hotspot

/** The network of an operator in one line. */
export function headline(hotspots: { status: Status }[], earned: number | undefined): string {
  const online = hotspots.filter(({ status }) => status === "online").length;
  const all = t.home.online(format.count(online), format.count(hotspots.length));
  return earned === undefined ? all : t.home.headline(all, format.credits(earned));
}

export interface Attention {
  id: string; // of the hotspot; empty: all of them
  name: string;
  what: string;
  why: string; // what to do about it
}

const day = 24 * 3_600_000; // milliseconds
const recent = 7 * day;
const soon = 30 * day;

/** What an operator should look at, the worst first. */
export function attention(hotspots: Hotspot[], holds: Hold[], now: number): Attention[] {
  const names = new Map(hotspots.map(({ id, name }) => [id, name]));
  const about = ({ id, name }: Hotspot, what: string, why: string): Attention => ({ id, name, what, why });
  const list: Attention[] = holds
    .filter(({ status }) => status === "active")
    .map(({ hotspot_id, reason, until }) => ({
      id: hotspot_id ?? "",
      name: hotspot_id ? (names.get(hotspot_id) ?? format.shortId(hotspot_id)) : t.home.all,
      what: t.home.rewardsHeld,
      why: t.home.heldUntil(reason, format.time(until)),
    }));
  for (const hotspot of hotspots.filter(({ status }) => status === "offline"))
    list.push(about(hotspot, t.status.offline, t.home.lastHeard(format.time(hotspot.metrics.last_seen_at))));
  for (const hotspot of hotspots) {
    const fell = hotspot.metrics.counters_fell_at;
    if (fell && now - Date.parse(fell) < recent)
      list.push(about(hotspot, t.home.countersFell, t.home.countersWhy(format.time(fell))));
  }
  for (const hotspot of hotspots.filter(({ status }) => status === "pending")) list.push(about(hotspot, t.status.pending, toDo(hotspot)));
  for (const hotspot of hotspots) {
    const until = hotspot.location.proven_until;
    if (until && Date.parse(until) - now < soon)
      list.push(about(hotspot, Date.parse(until) > now ? t.home.proofEnds : t.home.proofEnded, t.home.proofWhy(format.time(until))));
  }
  return list;
}

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
