// Keeps what is shown in step with the network, without asking all the time.
import { now } from "./clock";
import { connection, listen } from "./events";
import { session } from "./session";
import { Cell } from "./state";
import type { NetworkEvent } from "./types";

/** Goes up when something changed; at most once in a few seconds, however much did. */
export const changes = new Cell(0);
/** What happened last. A large network has thousands of events in a second: it is told of a few. */
export const latest = new Cell<NetworkEvent | null>(null);

/** What happened since somebody signed in, the newest first: as much as is kept. */
export const happenings = new Cell<{ since: number; events: NetworkEvent[] }>({ since: now(), events: [] });

const kept = 200; // events
const calm = 3_000; // milliseconds between two refreshes
const glance = 250; // and between two of the latest

let pending = false;
let newest: NetworkEvent | null = null; // that is not told yet
let untold: NetworkEvent[] = []; // with those before it

function happened(event: NetworkEvent): void {
  if (newest === null)
    setTimeout(() => {
      if (newest) latest.value = newest;
      newest = null;
      const { since, events } = happenings.value;
      happenings.value = { since, events: [...untold.reverse(), ...events].slice(0, kept) };
      untold = [];
    }, glance);
  newest = event;
  untold.push(event);
  if (untold.length > kept) untold.shift();
  changed();
}

function changed(): void {
  if (pending) return;
  pending = true;
  setTimeout(() => {
    pending = false;
    changes.value++;
  }, calm);
}

let stop: AbortController | undefined;

function begin(): void {
  if (stop || document.hidden || !session.who.value) return;
  stop = new AbortController();
  void listen(happened, changed, stop.signal);
}

function end(): void {
  stop?.abort();
  stop = undefined;
  connection.value = "off";
}

/**
 * Listens while someone is signed in and looks. A browser keeps few connections
 * to a server, for all of its tabs together; those in the background must not
 * hold them.
 */
export function followSession(): void {
  session.who.watch(() => {
    end();
    latest.value = newest = null; // what happened is another's business now
    untold = [];
    happenings.value = { since: now(), events: [] };
    begin();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      end();
      return;
    }
    begin();
    changed(); // whatever happened meanwhile
  });
}
