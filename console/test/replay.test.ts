import assert from "node:assert/strict";
import { test } from "node:test";
import { change, daysIn, extremes, formOf, replayCSV, termsInFile, termsOf } from "../src/replay";
import type { Replay } from "../src/types";

const places = {
  version: 2,
  effective_from: "2026-10-01",
  availability: 1,
  performance: { standard: 0, enhanced: 0.25, premium: 0.5 },
  utilization_per_gb: 0.02,
  utilization_cap: 0.25,
  radius_m: 50,
  unproven_share: 0.5,
};

test("the terms of a policy are asked for as a policy file has them", () => {
  const { policy } = formOf("2026-10-01", "2026-10-31", termsOf(places));
  assert.deepEqual(policy, {
    availability: "1",
    performance: { standard: "0", enhanced: "0.25", premium: "0.5" },
    utilization_per_gb: "0.02",
    utilization_cap: "0.25",
    radius_m: 50,
    unproven_share: "0.5",
  });
  const minutes = formOf("2026-10-01", "2026-10-31", { ...termsOf(places), standing_minutes_a_day: "600" }).policy;
  assert.equal(minutes?.standing_minutes_a_day, 600);
  const devices = formOf("2026-10-01", "2026-10-31", { ...termsOf(places), radius_m: " ", unproven_share: "" }).policy;
  assert.equal(devices && ("radius_m" in devices || "unproven_share" in devices), false);
  assert.deepEqual(formOf("2026-10-01", "2026-10-31", null), { from: "2026-10-01", to: "2026-10-31" });
});

test("a policy file gives its last policy", () => {
  const file = JSON.stringify({ policies: [{ ...places, availability: "3" }, { ...places, availability: "2.500000" }] });
  assert.equal(termsInFile(file)?.availability, "2.500000");
  assert.equal(termsInFile(JSON.stringify(places))?.["performance.premium"], "0.5");
  for (const text of ["", "null", "7", "{}", '{"policies":[]}', '{"policies":7}', "<html>"]) assert.equal(termsInFile(text), null, text);
});

const none = { availability: 0, performance: 0, utilization: 0 };
const operator = (user_id: string, earned: number, replayed: number): Replay["operators"][number] => ({
  user_id,
  hotspots: 1,
  earned,
  replayed,
  breakdown: { ...none, availability: earned },
  replayed_breakdown: { ...none, performance: replayed },
});

test("who gains and loses most, and everyone in a file", () => {
  const operators = [operator("usr_a", 0.3, 0.1), operator("usr_b", 1, 1), operator("usr_c", 1, 3), operator("usr_d", 2, 0)];
  const { gain, lose } = extremes(operators, 1);
  assert.deepEqual([gain.map((o) => o.user_id), lose.map((o) => o.user_id)], [["usr_c"], ["usr_d"]]);
  assert.equal(change({ earned: 0.3, replayed: 0.1 }), -0.2);
  assert.equal(replayCSV({ operators: operators.slice(0, 1) } as Replay).split("\r\n")[1], "usr_a,1,0.3,0,0,0.3,0,0.1,0,0.1,-0.2");
  assert.equal(daysIn('{"data":{"from":"2026-11-01","days":[{"date":"2026-11-01","rows":1},{"date":"20'), 2);
});
