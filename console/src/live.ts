// Keeps what is shown in step with the network, without asking all the time.
import { listen } from "./events";
import { session } from "./session";
import { Cell } from "./state";
import type { NetworkEvent } from "./types";

/** Goes up when something changed; at most once in a few seconds, however much did. */
export const changes = new Cell(0);
/** What happened last, the newest first. */
export const latest = new Cell<NetworkEvent[]>([]);

const calm = 3_000; // milliseconds between two refreshes
const kept = 5;

let pending = false;

function changed(): void {
  if (pending) return;
  pending = true;
  setTimeout(() => {
    pending = false;
    changes.value++;
  }, calm);
}

let stop: AbortController | undefined;

/** Begins and ends with the session. */
export function followSession(): void {
  session.who.watch((who) => {
    stop?.abort();
    stop = undefined;
    latest.value = [];
    if (!who) return;
    stop = new AbortController();
    void listen(
      (event) => {
        latest.value = [event, ...latest.value].slice(0, kept);
        changed();
      },
      changed,
      stop.signal,
    );
  });
}
