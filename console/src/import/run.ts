// Sends the rows of a table to the server, a few at a time. Whatever is repeated or
// interrupted, a hotspot is registered once.
import { ApiError, ask, send } from "../api";
import { toCSV, type CSVCell } from "../csv";
import { inWords } from "../faults";
import { t } from "../messages";
import type { Hotspot, Quota, Registration } from "../types";
import { columns, isThere, macOf, ours, refuse, type Outcome, type Row } from "./rows";

const atOnce = 4;

/** Sends the rows that are ready. What is no row's own fault ends it; the rest stays ready, and can be sent later. */
export async function register(rows: Row[], signal: AbortSignal, tell: () => void): Promise<void> {
  const ready = rows.filter(({ outcome }) => outcome === "ready");
  const failed: unknown[] = [];
  let read: Promise<Hotspot[]> | undefined;
  const mine = (): Promise<Hotspot[]> => (read ??= readAll(signal)); // someone may have registered some since the file was chosen
  const work = async (): Promise<void> => {
    for (let row; failed.length === 0 && !signal.aborted && (row = ready.shift()); tell()) {
      try {
        await registerOne(row, mine, signal);
      } catch (error) {
        failed.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failed.length > 0 && !signal.aborted) throw failed[0];
}

async function registerOne(row: Row, mine: () => Promise<Hotspot[]>, signal: AbortSignal): Promise<void> {
  const { body, sent } = row;
  if (!body) return;
  row.sent = true;
  try {
    const first = await post(body, keyOf(body), signal);
    row.id = first.id;
    if (first.replayed && (await stillThere(row, body, signal))) {
      // If this row was sent before, the response was lost on its way.
      if (!sent) return;
    } else if (first.replayed) {
      row.id = (await post(body, `${keyOf(body)}-${Date.now()}`, signal)).id;
    }
    row.outcome = "registered";
    row.why = "";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 409) conflict(row, body, await mine());
    else if (error.status === 400 && error.faults.length > 0)
      refuse(row, error.faults.map(({ field, message }) => `${field.replace(/^(location|device|settings)\./, "")} ${inWords(message)}`).join("; "));
    else throw error;
  }
}

/** Tells whether it is one's own hotspot that has the MAC address, or someone else's. */
function conflict(row: Row, body: Registration, mine: Hotspot[]): void {
  const own = mine.find(({ device }) => macOf(device.mac_address) === macOf(body.device.mac_address));
  if (!own) return void refuse(row, t.import.taken);
  isThere(row, body, own);
  row.why ||= t.import.yours;
}

/** Whether a hotspot that the same request registered before was not deleted since. */
async function stillThere(row: Row, body: Registration, signal: AbortSignal): Promise<boolean> {
  try {
    const { data } = await ask<Hotspot>(`/v1/hotspots/${encodeURIComponent(row.id)}`, { signal });
    isThere(row, body, data);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

async function post(body: Registration, key: string, signal: AbortSignal): Promise<{ id: string; replayed: boolean }> {
  const response = await send("/v1/hotspots", { method: "POST", body, headers: { "Idempotency-Key": key }, signal });
  const { data } = (await response.json()) as { data: Hotspot };
  return { id: data.id, replayed: response.headers.get("Idempotency-Replayed") === "true" };
}

/** Names a registration by what it says, so that it has the same key in every import. */
export function keyOf(body: Registration): string {
  const text = JSON.stringify(body);
  return `console-import-${[1, 2, 3, 4].map((seed) => hash(text, seed).toString(16).padStart(8, "0")).join("")}`;
}

// FNV-1a, mixed at the end. Browsers compute SHA-256 on pages of HTTPS alone, and nothing secret
// depends on it: two registrations with the same key would be refused with 409.
function hash(text: string, seed: number): number {
  let sum = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35);
  return (sum ^ (sum >>> 16)) >>> 0;
}

/** All hotspots of whoever is signed in. */
export async function readAll(signal: AbortSignal): Promise<Hotspot[]> {
  const all: Hotspot[] = [];
  for (let cursor = ""; ; ) {
    const query = new URLSearchParams({ per_page: "100", ...(cursor && { cursor }) });
    const { data, pagination } = await ask<Hotspot[]>(`/v1/users/me/hotspots?${query.toString()}`, { signal });
    all.push(...data);
    if (!pagination?.next) return all;
    cursor = pagination.next;
  }
}

/** How many more hotspots whoever is signed in may register until some are verified. */
export async function readRoom(mine: Hotspot[], signal: AbortSignal): Promise<{ quota: number; waiting: number }> {
  const { data } = await ask<Quota>("/v1/users/me/quota", { signal });
  return { quota: data.hotspots, waiting: mine.filter(({ location }) => !location.verified).length };
}

export const tally = (rows: Row[], outcome: Outcome): number => rows.filter((row) => row.outcome === outcome).length;

/** What became of rows, as a file. It can be mended and imported again. */
export function results(rows: Row[]): string {
  return toCSV(
    [...ours, ...columns],
    rows.map((row) => [row.line, row.outcome === "ready" ? "to_do" : row.outcome, row.why, row.id, ...columns.map((column) => cell(row.cells[column]))]),
  );
}

// A number is one, also with a minus: it is no formula.
const cell = (text = ""): CSVCell => (/^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text ? Number(text) : text);

/** What a table to fill in has as examples, by column. */
const examples = (): Record<string, CSVCell>[] => [
  { name: t.import.example, type: "business", lat: 40.7532, lng: -73.9822, ssid: "guest-wifi", mac_address: "02:00:5e:10:00:01" },
  {
    name: t.import.otherExample,
    type: "public",
    lat: 40.7544,
    lng: -73.9841,
    ssid: "guest-wifi",
    mac_address: "02:00:5e:10:00:02",
    max_connections: 128,
    bandwidth_limit_mbps: 300,
    coverage_radius_m: 120,
    operating_hours: '{"timezone":"America/New_York","weekly":[{"days":["mon","tue"],"open":"08:00","close":"22:00"}]}',
  },
];

/** A table to fill in. */
export const template = (): string => toCSV(columns, examples().map((row) => columns.map((column) => row[column])));
