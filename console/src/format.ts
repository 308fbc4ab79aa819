// How numbers and times are written, in the language of the pages.
import { t } from "./messages";
import { locale } from "./messages/language";
import type { Status } from "./types";

/** Thousands are separated in every number. Left alone, Spanish separates them from 10.000 on, and a column has both. */
export const number = (options: Intl.NumberFormatOptions = {}, of = locale): Intl.NumberFormat => new Intl.NumberFormat(of, { useGrouping: "always", ...options });
const whole = number();
const oneDigit = number({ maximumFractionDigits: 1 });
const sixDigits = number({ minimumFractionDigits: 6, maximumFractionDigits: 6 });
const twoDigits = number({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
const threeDigits = number({ maximumSignificantDigits: 3 });
const share = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const smallShare = new Intl.NumberFormat(locale, { style: "percent", maximumSignificantDigits: 2 });
const parts: Intl.DateTimeFormatOptions = {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
};
const moment = new Intl.DateTimeFormat(locale, parts);
const monthName = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });

export const count = (n: number): string => whole.format(n);
export const percent = (fraction: number): string => (fraction < 0.01 ? smallShare : share).format(fraction);
/** The uptime of a hotspot; of one that was never in service there is none. */
export const uptime = (status: Status, fraction: number): string => (status === "pending" && fraction === 0 ? "–" : percent(fraction));
/** An amount as it is shown in tables; exact is for titles and explanations. */
export const credits = (amount: number): string => (amount > 0 && amount < 0.01 ? `<${twoDigits.format(0.01)}` : twoDigits.format(amount));
export const exact = (amount: number): string => sixDigits.format(amount);
/** A number beside an axis. */
export const short = (n: number): string => threeDigits.format(n);
const measure = (n: number): string => (n >= 100 ? whole.format(Math.round(n)) : threeDigits.format(n));
export const area = (km2: number): string => (km2 > 0 && km2 < 0.1 ? `${measure(Math.round(km2 * 1e6))} m²` : `${measure(km2)} km²`);
/** Traffic as people say it: in the unit in which it has one to three digits before the point. */
export function traffic(gb: number): string {
  if (gb > 0 && gb < 0.001) return "<1 MB";
  const [amount, unit] = gb >= 1e6 ? [gb / 1e6, "PB"] : gb >= 1000 ? [gb / 1000, "TB"] : gb >= 1 || gb === 0 ? [gb, "GB"] : [Math.round(gb * 1e4) / 10, "MB"];
  return `${measure(amount)} ${unit}`;
}
export const metres = (m: number): string => (m < 1000 ? `${whole.format(Math.round(m))} m` : `${oneDigit.format(m / 1000)} km`);
export const degrees = (value: number): string => value.toFixed(5);
export const time = (iso: string | null): string => (iso ? moment.format(new Date(iso)) : t.words.never);
const relative = new Intl.RelativeTimeFormat(locale);
const units: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];
/** How long ago it was; of what is a week ago or more, and of what is still to come, when. */
export function ago(iso: string | null, now: number): string {
  const seconds = iso ? Math.floor((now - Date.parse(iso)) / 1000) : 0;
  if (!iso || seconds < -60 || seconds >= 7 * 86_400) return time(iso);
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ["second", 1];
  return relative.format(-Math.max(0, Math.floor(seconds / length)), unit);
}
/** Whether a hotspot is open, and until when: by its own clock, if the browser knows the zone, which is named where it differs from the viewer's. */
export function opening(open: boolean, until: string | null | undefined, timezone: string | null | undefined, now: number): string {
  const state = open ? t.opening.open : t.opening.closed;
  if (!until) return open && !timezone ? t.opening.always : state;
  const zone = known(timezone);
  const at = new Date(until);
  const wall = onWall(at, zone);
  const ends = open && wall % dayLength === 0; // at the end of a day, not at the beginning of the next
  const day = Math.floor(wall / dayLength) - (ends ? 1 : 0);
  const away = day - Math.floor(onWall(new Date(now), zone) / dayLength);
  const clock = ends ? "24:00" : new Date(wall).toISOString().slice(11, 16);
  const text = away === 0 ? t.opening.clock(clock) : t.opening.onDay((away < 7 ? weekday : longDay).format(new Date(day * dayLength)), clock);
  return t.opening.until(state, wall === onWall(at, undefined) ? text : `${text} ${zoneName(at, zone)}`);
}
const dayLength = 24 * 60 * 60 * 1000;
const weekday = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });
const longDay = new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" });

/** The zone, or undefined for that of whoever looks if the browser does not know it. */
function known(timeZone: string | null | undefined): string | undefined {
  try {
    return timeZone ? new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone : undefined;
  } catch {
    return undefined;
  }
}

/** What a clock on a wall shows, to the minute, as if it were the time of UTC. */
function onWall(at: Date, timeZone: string | undefined): number {
  const shown = new Intl.DateTimeFormat("en", { timeZone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" }).formatToParts(at);
  const part = (kind: string): number => Number(shown.find(({ type }) => type === kind)?.value);
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
}

const zoneName = (at: Date, timeZone: string | undefined): string =>
  new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: "short" }).formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
/** The zone that times are in. */
export const zone = (): string => moment.resolvedOptions().timeZone;
export const month = (period: string): string => monthName.format(new Date(`${period}-01T00:00:00Z`));
const dayName = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" });
/** A day within a month or year that is known, as in a chart. */
export const day = (date: string): string => dayName.format(new Date(`${date}T00:00:00Z`));
const dateName = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
/** A day with its year (D222); what is not a day yet stays as it is. */
export const date = (iso: string): string => (/^\d{4}-\d\d-\d\d$/.test(iso) ? dateName.format(new Date(`${iso}T00:00:00Z`)) : iso);
const hours = new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hour12 ? "numeric" : "2-digit";
const hourName = new Intl.DateTimeFormat(locale, { hour: hours, ...(hours === "2-digit" && { minute: "2-digit" }) });
const localDay = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric" });
/** A mark of an axis of time, whose marks are so many seconds apart: the hour, or the day where one begins. */
export function mark(seconds: number, apart: number): string {
  const at = new Date(seconds * 1000);
  return (apart >= 86_400 || (at.getHours() === 0 && at.getMinutes() === 0) ? localDay : hourName).format(at);
}
export const minutes = (n: number): string =>
  [n >= 60 && `${Math.floor(n / 60)} h`, (n < 60 || n % 60 > 0) && `${n % 60} min`].filter(Boolean).join(" ");
/** An id, short enough for a table; the whole of it belongs into a title. */
export const shortId = (id: string): string => (id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-6)}` : id);
