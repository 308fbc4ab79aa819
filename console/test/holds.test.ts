import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../src/messages/en";
import { holding, latestEnd, soonestEnd, target } from "../src/holds";
import type { Hold } from "../src/types";

test("a hold ends within 30 days, when a day begins", () => {
  const now = Date.parse("2026-11-16T21:00:00Z");
  assert.equal(latestEnd(now), "2026-12-16");
  assert.equal(soonestEnd(now), "2026-11-17");
  assert.equal(latestEnd(Date.parse("2026-11-16T00:00:00Z")), "2026-12-16"); // exactly 30 days
});

test("an id says whether a hotspot or an operator is held", () => {
  assert.deepEqual(target(" usr_1 "), { operator_id: "usr_1" });
  assert.deepEqual(target("hs_1"), { hotspot_id: "hs_1" });
});

test("what is held of a hotspot includes what is held of its operator", () => {
  const hold = (id: string, status: Hold["status"], hotspot_id: string | null): Hold => ({ id, status, hotspot_id }) as Hold;
  const all = [hold("a", "active", "hs_1"), hold("b", "active", null), hold("c", "released", "hs_1"), hold("d", "voided", "hs_1"), hold("e", "active", "hs_2")];
  const ids = (hotspot?: string): string => holding(all, hotspot).map(({ id }) => id).join("");
  assert.equal(ids("hs_1"), "abd");
  assert.equal(ids(), "abde");
});

test("facts have names for people", () => {
  assert.equal(en.review.fact("within_m"), "Within");
  assert.equal(en.review.fact("equal_speed_tests"), "Equal speed tests");
});
