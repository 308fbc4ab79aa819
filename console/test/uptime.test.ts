import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryPoint } from "../src/types";
import { uptimeInWords } from "../src/uptime";

const points = (...uptimes: (number | null)[]): HistoryPoint[] =>
  uptimes.map((uptime) => ({ at: "", uptime, clients: 0, traffic_gb: 0, performance_tier: "standard" }));

test("30 days have the server's figure, whatever the average of their parts", () => {
  assert.equal(uptimeInWords(points(1, null, 0.5), { name: "30 days", each: "quarters of a day", figure: 0.992 }), "99.2% in 30 days");
});

test("elsewhere the spans without a gap are counted, and none in which it was closed", () => {
  const hours = { name: "7 days", each: "hours" };
  assert.equal(uptimeInWords(points(1, null, 0.9999, 0, 1), hours), "No gaps in 2 of 4 hours");
  assert.equal(uptimeInWords(points(null, null), hours), "No data yet");
  assert.equal(uptimeInWords([], { ...hours, figure: 0 }), "No data yet");
});
