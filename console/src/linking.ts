// What a code for linking leads to: a command to run, and how far the device is.
import { ApiError } from "./api";
import { t } from "./messages";
import type { Hotspot } from "./types";

/** A code that was created on this page. */
export interface LinkCode {
  code: string;
  expires_at: string;
  linkedBefore: string | null; // when the device was linked that the code replaces
}

export type Step = "waiting" | "expired" | "linked" | "heard";

/** How far a device is, as the hotspot shows it at a time; undefined if it was linked and is no more. */
export function stepOf(link: LinkCode, used: boolean, { device, metrics }: Pick<Hotspot, "device" | "metrics">, now: number): Step | undefined {
  const linkedAt = device.linked_at ?? null;
  if (!linkedAt || linkedAt === link.linkedBefore) {
    if (used) return undefined;
    return now < Date.parse(link.expires_at) ? "waiting" : "expired";
  }
  const heardAt = metrics.last_seen_at;
  return heardAt && Date.parse(heardAt) >= Date.parse(linkedAt) ? "heard" : "linked";
}

/** Minutes and seconds until a time, such as 14:05. */
export function left(until: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A command, with a picture of it: paths of an SVG image of that size. */
export interface Command {
  command: string;
  qr: string[] | null;
  qr_size: number;
}

export interface Commands {
  url: string; // where devices reach the server
  openwrt: Command;
  linux: Command;
}

/** Has the server write the code into the commands that install the agent. Addresses are logged, so the code is in the body. */
export async function commandsFor(code: string): Promise<Commands> {
  const response = await fetch("/agent/command", { method: "POST", body: code, credentials: "omit" });
  if (!response.ok) throw new ApiError(response.status, "unknown", t.errors.status(response.status), response.headers.get("X-Request-Id") ?? "");
  return (await response.json()) as Commands;
}

const onThisMachine = (host: string): boolean => host === "localhost" || host === "127.0.0.1";

/** Whether a device can reach the server there: over HTTPS, or on the machine on which this page was opened. */
export function reachable(url: string, pageHost: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (onThisMachine(hostname) && onThisMachine(pageHost));
}
