// The rows of a table of hotspots, read and checked before anything is sent. It takes
// the tables of `beacon import`; test/import.test.ts reads the same examples as that does.
import { bounds, otherNames, settings, types, type Bounds, type Setting } from "../bounds";
import { readCSV, separatorOf, unmark } from "../csv";
import * as format from "../format";
import { t } from "../messages";
import type { Hotspot, HotspotType, Registration } from "../types";

export const needed = ["name", "type", "lat", "lng", "ssid", "mac_address"];
export const optional = ["address", ...settings.map(({ name }) => name)];
export const columns = [...needed, ...optional];

/** How many rows the page takes, and how long a file is looked at. */
export const mostRows = 5000;
export const mostBytes = 8_000_000;

export type Outcome = "ready" | "registered" | "present" | "refused";

export interface Row {
  line: number;
  cells: Record<string, string>; // by column
  body: Registration | null; // null: there are faults
  outcome: Outcome;
  why: string; // it was refused, or what differs from what is there
  id: string; // of the hotspot, once it is known
  sent: boolean; // at least once
}

export interface Table {
  rows: Row[];
  unused: string[]; // columns that may be misspelt
}

/** What is wrong with a file as a whole. */
export class FileError extends Error {}

export function readTable(bytes: Uint8Array): Table {
  const text = decode(bytes);
  const [head, ...records] = readCSV(text, separatorOf(text));
  if (!head) throw new FileError(t.import.empty);
  if (head.broken) throw new FileError(t.import.headBroken);
  const given = head.cells.map(spelled);
  const names = columnsOf(given);
  const twice = columns.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) throw new FileError(t.import.columnTwice(twice));
  const missing = needed.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new FileError(t.import.columnsMissing(missing.join(", ")));
  if (records.length > mostRows) throw new FileError(t.import.tooMany(format.count(records.length), format.count(mostRows)));
  const marked = ours.every((name) => given.includes(name)); // these are results, which toCSV wrote
  const rows = records.map(({ line, cells, broken }) => {
    const row: Row = { line, cells: {}, body: null, outcome: "ready", why: "", id: "", sent: false };
    if (broken) return refuse(row, t.import.broken);
    if (cells.length !== names.length) return refuse(row, t.import.cells(cells.length, names.length));
    names.forEach((name, i) => {
      if (columns.includes(name) && cells[i]) row.cells[name] = marked ? unmark(cells[i]) : cells[i];
    });
    return check(row);
  });
  refuseTwins(rows);
  return { rows, unused: given.filter((name, i) => name && !names[i] && !ours.includes(name)) };
}

const spelled = (name: string): string => name.trim().toLowerCase().replace(/[ -]/g, "_");

/** The columns that names stand for. Of several names of a column the best one counts, as in `beacon import`. */
function columnsOf(names: string[]): string[] {
  const best = new Map<string, string>(); // by name, the column
  for (const column of columns) {
    const name = [column, ...(otherNames[column] ?? [])].find((name) => names.includes(name));
    if (name !== undefined) best.set(name, column);
  }
  return names.map((name) => best.get(name) ?? "");
}

/** The columns that a table of results has besides. */
export const ours = ["line", "result", "reason", "hotspot_id"];

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new FileError(t.import.notUTF8);
  }
}

export function refuse(row: Row, why: string): Row {
  row.outcome = "refused";
  row.why = why;
  return row;
}

const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Checks what can be judged here. The server decides about the rest: characters, and opening hours. */
function check(row: Row): Row {
  const faults: string[] = [];
  const say = (column: string, fault: string): void => void faults.push(`${column} ${fault}`);
  // Spaces at the ends of an SSID are part of it.
  const text = (column: string): string => (column === "ssid" ? row.cells[column] : row.cells[column]?.trim()) ?? "";
  for (const column of needed) if (!text(column)) say(column, t.import.rules.required);
  const value = (column: string, wrong: (n: number) => string): number | undefined => {
    if (!text(column)) return undefined;
    const digits = text(column).replace(/^(-?\d+),(\d+)$/, "$1.$2"); // as much of Europe writes it
    const n = isNumber.test(digits) ? Number(digits) : NaN;
    const fault = Number.isFinite(n) ? wrong(n) : t.import.rules.number;
    if (fault) say(column, fault);
    return n;
  };
  const between =
    ({ least, most }: Bounds) =>
    (n: number) =>
      n >= least && n <= most ? "" : t.import.rules.between(least, most);
  const length = [...text("name").normalize("NFC")].length;
  const { least, most } = bounds.Name;
  if (length > 0 && (length < least || length > most)) say("name", t.import.rules.characters(least, most));
  if (text("type") && !types.includes(text("type"))) say("type", t.import.rules.type);
  const lat = value("lat", between(bounds.Latitude));
  const lng = value("lng", between(bounds.Longitude));
  if ([...text("address")].length > bounds.Address.most) say("address", t.import.rules.most(bounds.Address.most));
  if (new TextEncoder().encode(text("ssid")).length > 32) say("ssid", t.import.rules.letters(32));
  if (text("mac_address") && !macOf(text("mac_address"))) say("mac_address", t.import.rules.mac);
  else if (/^(.[13579bdf]|0{12}$)/.test(macOf(text("mac_address")))) say("mac_address", t.import.rules.oneDevice);
  const numeric = (s: Setting) => (n: number) => {
    if (s.kind === "integer" && !Number.isInteger(n)) return t.import.rules.whole;
    if (s.above) return n > s.least && n <= s.most ? "" : t.import.rules.positive(s.most);
    return between(s)(n);
  };
  const setting = (s: Setting): unknown => {
    if (!text(s.name)) return undefined;
    if (s.kind !== "boolean" && s.kind !== "object") return value(s.name, numeric(s));
    const parsed = json(text(s.name));
    if (s.kind === "boolean" && typeof parsed !== "boolean") say(s.name, t.import.rules.flag);
    if (s.kind === "object" && (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))) say(s.name, t.import.rules.hours);
    return parsed;
  };
  const chosen = settings.map((s) => [s.name, setting(s)] as const).filter(([, value]) => value !== undefined);
  if (faults.length > 0) return refuse(row, faults.join("; "));
  row.body = {
    name: text("name"),
    type: text("type") as HotspotType,
    location: { lat: lat ?? 0, lng: lng ?? 0, ...(text("address") && { address: text("address") }) },
    device: { ssid: text("ssid"), mac_address: text("mac_address") },
  };
  if (chosen.length > 0) row.body.settings = Object.fromEntries(chosen);
  return row;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return ""; // neither true or false nor an object
  }
}

/** The twelve digits of a MAC address, however it is written, or nothing if it is none. */
export function macOf(text: string): string {
  const known = /^([0-9a-f]{12}|[0-9a-f]{4}(\.[0-9a-f]{4}){2}|[0-9a-f]{2}(([:.-])[0-9a-f]{2})(\4[0-9a-f]{2}){4})$/i.test(text);
  return known ? text.replace(/[^0-9a-f]/gi, "").toLowerCase() : "";
}

function refuseTwins(rows: Row[]): void {
  const lines = new Map<string, number>();
  for (const row of rows) {
    if (!row.body) continue;
    const mac = macOf(row.body.device.mac_address);
    const first = lines.get(mac);
    if (first === undefined) lines.set(mac, row.line);
    else {
      row.body = null;
      refuse(row, t.import.twin(first));
    }
  }
}

/** Marks the rows whose hotspots are there already. They stay as they are: someone may have changed them since. */
export function recognize(rows: Row[], mine: Hotspot[]): void {
  const there = new Map(mine.map((hotspot) => [macOf(hotspot.device.mac_address), hotspot]));
  for (const row of rows) {
    const hotspot = row.body && row.outcome === "ready" && there.get(macOf(row.body.device.mac_address));
    if (hotspot && row.body) isThere(row, row.body, hotspot);
  }
}

export function isThere(row: Row, body: Registration, hotspot: Hotspot): void {
  const other = differences(body, hotspot);
  row.outcome = "present";
  row.id = hotspot.id;
  row.why = other.length > 0 ? t.import.differs(other.join(", ")) : "";
}

function differences({ name, type, location, device, settings: chosen = {} }: Registration, there: Hotspot): string[] {
  const pairs: [column: string, wanted: unknown, is: unknown][] = [
    ["name", name.normalize("NFC"), there.name],
    ["type", type, there.type],
    ["lat", location.lat, there.location.lat],
    ["lng", location.lng, there.location.lng],
    ["address", location.address ?? "", there.location.address ?? ""],
    ["ssid", device.ssid, there.device.ssid],
  ];
  for (const { name, kind } of settings) {
    if (kind === "object") continue;
    const is = (there.settings as Record<string, unknown>)[name] ?? (kind === "boolean" ? false : undefined);
    // Without a value it was the default of the type, and may have been changed.
    pairs.push([name, (chosen as Record<string, unknown>)[name] ?? is, is]);
  }
  return pairs.filter(([, wanted, is]) => wanted !== is).map(([column]) => column);
}
