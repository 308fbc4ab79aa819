import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { page } from "./page";
import type { Key } from "../src/types";

const who: Key = { id: "key_1", user_id: "usr_1", name: "", scopes: [], created_at: "", expires_at: null, last_used_at: null, revoked_at: null, origins: [], addresses: [], publishable: false, max_enrolments: 0, enrolments: 0, hotspots: [], may_register: false };

/** A stream of events that the page asked for. */
interface Stream {
  last: string | null; // the event that it goes on from
  signal: AbortSignal;
  send: (text: string) => void;
  end: () => void;
}

const streams: Stream[] = [];

globalThis.fetch = (_, init) => {
  const signal = init?.signal as AbortSignal;
  const body = new ReadableStream<Uint8Array>({
    start(out) {
      signal.addEventListener("abort", () => out.error(signal.reason));
      streams.push({
        last: new Headers(init?.headers).get("Last-Event-ID"),
        signal,
        send: (text) => out.enqueue(new TextEncoder().encode(text)),
        end: () => out.close(),
      });
    },
  });
  return Promise.resolve(new Response(body));
};

/** Lets everything happen that waits for nothing but its turn. */
async function turn(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

const newest = (): Stream => {
  const stream = streams.at(-1);
  assert.ok(stream, "nobody listens");
  return stream as Stream;
};

const registered = (id: number): string => `id: ${id}\ndata: {"id":${id},"type":"hotspot.registered","at":"2026-11-15T12:00:00Z"}\n\n`;

test("what happens is told once in a while, however much does", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { connection } = await import("../src/events");
  const { changes, followSession, latest } = await import("../src/live");
  const { session } = await import("../src/session");
  followSession();
  assert.equal(streams.length, 0); // nobody is signed in
  session.begin("bcn_1", who);
  await turn();
  assert.equal(streams.length, 1);
  assert.equal(connection.value, "live");

  let told = 0;
  latest.watch(() => told++);
  const text = registered(7);
  newest().send(text.slice(0, 20)); // a stream is cut anywhere
  newest().send(text.slice(20) + ": a comment\n\n");
  for (let id = 8; id <= 1000; id++) newest().send(registered(id));
  await turn();
  mock.timers.tick(249);
  assert.equal(latest.value, null);
  mock.timers.tick(1);
  assert.equal(latest.value?.id, 1000);
  assert.equal(told, 1);
  assert.equal(changes.value, 0);
  mock.timers.tick(2750);
  assert.equal(changes.value, 1);
  mock.timers.tick(60_000);
  assert.equal(changes.value, 1); // nothing happened since

  // The server goes away; who comes back goes on where it stopped, and looks again.
  newest().end();
  await turn();
  assert.equal(connection.value, "waiting");
  mock.timers.tick(999);
  await turn();
  assert.equal(streams.length, 1);
  mock.timers.tick(1);
  await turn();
  assert.equal(streams.length, 2);
  assert.equal(newest().last, "1000");
  mock.timers.tick(3000);
  assert.equal(changes.value, 2);

  // A tab in the background holds no connection; one that comes back looks again.
  page.hidden = true;
  page.tell("visibilitychange");
  await turn();
  assert.ok(newest().signal.aborted);
  assert.equal(connection.value, "off");
  page.hidden = false;
  page.tell("visibilitychange");
  await turn();
  assert.equal(streams.length, 3);
  assert.equal(newest().last, null);
  mock.timers.tick(3000);
  assert.equal(changes.value, 3);

  // What one saw happen, the next does not.
  newest().send(registered(2000));
  await turn();
  session.end();
  mock.timers.tick(60_000);
  await turn();
  assert.equal(latest.value, null);
  assert.ok(newest().signal.aborted);
  assert.equal(streams.length, 3);
  mock.timers.reset();
});
