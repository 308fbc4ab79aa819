import assert from "node:assert/strict";
import { test } from "node:test";
import type { Polygon, Position } from "geojson";
import { unwrap } from "../src/map/land";

const ringOf = (ring: Position[]): Position[] => (unwrap({ type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates: [ring] } }).features[0]!.geometry as Polygon).coordinates[0]!;

test("land that does not cross 180° stays as it is", () => {
  const ring = [[10, 50], [20, 50], [20, 60], [10, 50]];
  assert.deepEqual(ringOf(ring), ring);
});

test("land on both sides of 180° goes on beyond it", () => {
  assert.deepEqual(ringOf([[179, 70], [-179, 70], [-179, 71], [179, 71], [179, 70]]), [[179, 70], [181, 70], [181, 71], [179, 71], [179, 70]]);
  assert.deepEqual(ringOf([[-179, 70], [179, 70], [179, 71], [-179, 70]]), [[-179, 70], [-181, 70], [-181, 71], [-179, 70]]);
});

test("land around a pole has the pole", () => {
  const south = ringOf([[-170, -80], [-50, -70], [60, -70], [170, -75], [-170, -80]]);
  assert.deepEqual(south, [[-170, -80], [-50, -70], [60, -70], [170, -75], [190, -80], [190, -90], [-170, -90], [-170, -80]]);
});
