import assert from "node:assert/strict";
import { test } from "node:test";
import "./page";

const minute = 60_000;
const noon = Date.parse("2026-11-15T12:00:00.000Z");
const at = (minutes: number) => new Date(noon + minutes * minute).toISOString();
const hotspot = (linked_at: string | null, last_seen_at: string | null) => ({ device: { linked_at }, metrics: { last_seen_at } }) as never;

test("a code leads to a linked device, and that to a heartbeat", async () => {
  const { stepOf } = await import("../src/linking");
  const link = { code: "K7Q2-M4XD", expires_at: at(15), linkedBefore: null };
  assert.equal(stepOf(link, false, hotspot(null, null), noon), "waiting");
  assert.equal(stepOf(link, false, hotspot(null, null), noon + 15 * minute), "expired");
  assert.equal(stepOf(link, false, hotspot(at(1), null), noon + minute), "linked");
  assert.equal(stepOf(link, true, hotspot(at(1), null), noon + 20 * minute), "linked"); // in time
  assert.equal(stepOf(link, true, hotspot(at(1), at(2)), noon + 2 * minute), "heard");
  assert.equal(stepOf(link, true, hotspot(null, at(2)), noon + 3 * minute), undefined); // unlinked since: the code is used up
});

test("linking again waits for the other device, and for its heartbeat", async () => {
  const { stepOf } = await import("../src/linking");
  const link = { code: "K7Q2-M4XD", expires_at: at(15), linkedBefore: at(-1000) };
  assert.equal(stepOf(link, false, hotspot(at(-1000), at(1)), noon + minute), "waiting"); // the old one beats on
  assert.equal(stepOf(link, false, hotspot(at(2), at(1)), noon + 2 * minute), "linked"); // that heartbeat was the old one's
  assert.equal(stepOf(link, true, hotspot(at(2), at(3)), noon + 3 * minute), "heard");
});

test("the time that is left of a code", async () => {
  const { left } = await import("../src/linking");
  assert.equal(left(at(15), noon), "15:00");
  assert.equal(left(at(15), noon + 5_100), "14:55");
  assert.equal(left(at(15), noon + 14 * minute + 52_000), "0:08");
  assert.equal(left(at(15), noon + 20 * minute), "0:00");
});

test("devices reach a server over HTTPS, or on one machine", async () => {
  const { reachable } = await import("../src/linking");
  assert.equal(reachable("https://wifi.example.org", "wifi.example.org"), true);
  assert.equal(reachable("https://wifi.example.org", "127.0.0.1"), true);
  assert.equal(reachable("http://127.0.0.1:8080", "localhost"), true);
  assert.equal(reachable("http://127.0.0.1:8080", "wifi.example.org"), false);
  assert.equal(reachable("http://wifi.example.org", "wifi.example.org"), false);
});
