import assert from "node:assert/strict";
import { test } from "node:test";
import { gaps } from "../src/gaps";
import { distance } from "../src/geo";
import { added, mostPins, movedTo, parsePlan, removed, writePlan, type Plan } from "../src/plan";

const pins = [
  { lat: 40.7536, lng: -73.9832 },
  { lat: 40.754, lng: -73.9832 },
];

test("a plan is read as it was written", () => {
  const plan: Plan = { pins, chosen: 0, radius: 100 };
  assert.equal(writePlan(plan), "100:40.75360,-73.98320;40.75400,-73.98320");
  assert.deepEqual(parsePlan(writePlan(plan)), plan);
});

test("what is no plan is none", () => {
  const tooMany = `100:${Array.from({ length: mostPins + 1 }, () => "1,2").join(";")}`;
  for (const text of ["", "100", "100:", ":1,2", "9:1,2", "501:1,2", "x:1,2", "100:91,2", "100:1,181", "100:1", "100:1,2,3", "100:a,b", tooMany]) {
    assert.equal(parsePlan(text), null, text);
  }
});

test("pins are added, moved and taken away", () => {
  const start: Plan = { pins: [], chosen: 0, radius: 50 };
  const one = movedTo(start, { lat: 1, lng: 190 });
  assert.deepEqual(one.pins, [{ lat: 1, lng: -170 }]);
  const two = added(one, { lat: 2, lng: 2 });
  assert.equal(two.chosen, 1);
  assert.deepEqual(movedTo(two, { lat: 3, lng: 3 }).pins[1], { lat: 3, lng: 3 });
  assert.deepEqual(removed(two, 0), { pins: [{ lat: 2, lng: 2 }], chosen: 0, radius: 50 });
  assert.deepEqual(removed(removed(two, 0), 0), start);
  const beside = added(added(two, { lat: 2, lng: 2 }), { lat: 2, lng: 2 });
  assert.deepEqual(beside.pins.map(({ lat }) => lat), [1, 2, 2, 2]);
  const metres = beside.pins.slice(2).map((pin, n) => Math.round(distance(pin, beside.pins[n + 1] ?? pin)));
  assert.deepEqual(metres, [100, 100]);
  let full = start;
  for (let n = 0; n < mostPins + 5; n++) full = added(full, { lat: n, lng: 0 });
  assert.equal(full.pins.length, mostPins);
});

test("a gap is ground that nothing covers, though something is near", () => {
  const box = { north: 0.01, south: -0.01, west: -0.01, east: 0.01 }; // 2.2 km wide
  assert.deepEqual(gaps(box, []), []);
  const found = gaps(box, [{ lat: 0, lng: 0, radius_m: 200 }], 20);
  const middle = ({ west, east, south, north }: (typeof found)[number]): number => Math.hypot((west + east) / 2, (south + north) / 2) * 111_195;
  assert.ok(found.length > 40);
  for (const gap of found) assert.ok(middle(gap) > 200 && middle(gap) <= 501, `a gap ${middle(gap)} m away`);
  const between = gaps(box, [-0.003, 0.003].map((lng) => ({ lat: 0, lng, radius_m: 200 })), 20);
  assert.ok(Math.max(...between.map(({ weight }) => weight)) > Math.max(...found.map(({ weight }) => weight)));
});
