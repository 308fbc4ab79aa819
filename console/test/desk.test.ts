import "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, daysOf, next, share, trend } from "../src/desk";

test("a share is all or none only where it is", () => {
  assert.equal(share(0, 0), null);
  assert.equal(share(3, 3), 1);
  assert.equal(share(0, 3), 0);
  assert.equal(share(99_999, 100_000), 0.999);
  assert.equal(share(1, 100_000), 0.001);
  assert.equal(share(1, 2), 0.5);
});

test("how long ago something was is said in its largest unit", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  const said = (minutes: number): string => ago(now - minutes * 60_000, now);
  assert.deepEqual([-5, 0, 1, 59, 60, 119, 1439, 1440, 3000].map(said), ["1 minute", "1 minute", "1 minute", "59 minutes", "1 hour", "1 hour", "23 hours", "1 day", "2 days"]);
});

test("a trend is the last day, compared with those before it", () => {
  const days = [0.9, 0.8, 0.95].map((uptime, i) => ({ date: `2026-11-1${i}`, uptime }));
  assert.equal(trend([]), "");
  assert.equal(trend(days.slice(0, 1)), "90% on Nov 10");
  assert.equal(trend(days), "95% on Nov 12; 85% on average before");
});

test("after a decision comes the next of the queue, and after the last the first", () => {
  const queue = [{ id: "a" }, { id: "b" }, { id: "c" }];
  assert.equal(next(queue, "a"), "b");
  assert.equal(next(queue, "c"), "a");
  assert.equal(next(queue, "gone"), "a");
  assert.equal(next([{ id: "a" }], "a"), "");
  assert.equal(next([], "a"), "");
});

test("the days of a trend are a day apart, and are written as days", () => {
  const { at, name, mark } = daysOf([
    { date: "2026-10-31", uptime: 0.9 },
    { date: "2026-11-01", uptime: 0.8 },
    { date: "2026-11-03", uptime: 0.8 }, // of the day before it nothing is known
  ]);
  assert.deepEqual(at.map((day) => day - at[0]!), [0, 1, 3]);
  assert.deepEqual(at.map(mark), ["Oct 31", "Nov 1", "Nov 3"]);
  assert.equal(mark(at[1]! + 1), "Nov 2");
  assert.equal(name(2), "Nov 3, 2026");
});
