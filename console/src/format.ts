// How numbers and times are written, in the language of the pages.
import { t } from "./messages";
import { locale } from "./messages/language";

const whole = new Intl.NumberFormat(locale);
const oneDigit = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const sixDigits = new Intl.NumberFormat(locale, { minimumFractionDigits: 6, maximumFractionDigits: 6 });
const twoDigits = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const threeDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
const share = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const smallShare = new Intl.NumberFormat(locale, { style: "percent", maximumSignificantDigits: 2 });
const moment = new Intl.DateTimeFormat(locale, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
});
const monthName = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" });

export const count = (n: number): string => whole.format(n);
export const percent = (fraction: number): string => (fraction < 0.01 ? smallShare : share).format(fraction);
/** An amount as it is shown in tables; exact is for titles and explanations. */
export const credits = (amount: number): string => (amount > 0 && amount < 0.01 ? `<${twoDigits.format(0.01)}` : twoDigits.format(amount));
export const exact = (amount: number): string => sixDigits.format(amount);
/** A number beside an axis. */
export const short = (n: number): string => threeDigits.format(n);
const measure = (n: number): string => (n >= 100 ? whole.format(Math.round(n)) : threeDigits.format(n));
export const area = (km2: number): string => (km2 > 0 && km2 < 0.1 ? `${measure(Math.round(km2 * 1e6))} m²` : `${measure(km2)} km²`);
export const gigabytes = (gb: number): string => `${measure(gb)} GB`;
export const metres = (m: number): string => (m < 1000 ? `${whole.format(Math.round(m))} m` : `${oneDigit.format(m / 1000)} km`);
export const degrees = (value: number): string => value.toFixed(5);
export const time = (iso: string | null): string => (iso ? moment.format(new Date(iso)) : t.words.never);
/** The zone that times are in. */
export const zone = (): string => moment.resolvedOptions().timeZone;
export const month = (period: string): string => monthName.format(new Date(`${period}-01T00:00:00Z`));
const dayName = new Intl.DateTimeFormat(locale, { month: "short", day: "numeric", timeZone: "UTC" });
export const day = (date: string): string => dayName.format(new Date(`${date}T00:00:00Z`));
export const minutes = (n: number): string =>
  [n >= 60 && `${Math.floor(n / 60)} h`, (n < 60 || n % 60 > 0) && `${n % 60} min`].filter(Boolean).join(" ");
/** An id, short enough for a table; the whole of it belongs into a title. */
export const shortId = (id: string): string => (id.length > 14 ? `${id.slice(0, 4)}…${id.slice(-6)}` : id);
