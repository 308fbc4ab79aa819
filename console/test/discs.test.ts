import assert from "node:assert/strict";
import { test } from "node:test";
import { mercator, packDiscs } from "../src/map/discs";

const hotspot = (lat: number, lng: number, properties: object) => ({ geometry: { type: "Point" as const, coordinates: [lng, lat] }, properties: { id: "hs", radius_m: 100, ...properties } });

/** Where a disc is, and how large, in metres. */
const metres = (packed: Float32Array, lat: number) => [...packed].map((n, i) => (i % 4 === 3 ? n : n * 2 * Math.PI * 6_371_008.8 * Math.cos((lat * Math.PI) / 180)));

test("discs are counted from a spot near them, each with its status", () => {
  const packed = packDiscs([hotspot(60, 25, { status: "online" }), hotspot(60, 25.001, { status: "pending" }), hotspot(60, 25, { status: "suspended" })], mercator(60, 25));
  const want = [0, 0, 100, 0, 55.6, 0, 100, 1, 0, 0, 100, 2];
  metres(packed, 60).forEach((n, i) => assert.ok(Math.abs(n - want[i]!) < 0.1, `number ${i} is ${n}, not ${want[i]}`));
});

test("clusters, lines and what has no radius are no discs", () => {
  const line = { geometry: { type: "LineString" as const, coordinates: [] }, properties: { radius_m: 5 } };
  assert.equal(packDiscs([hotspot(1, 1, { count: 3 }), hotspot(1, 1, { radius_m: undefined }), line, { ...line, properties: null }], [0.5, 0.5]).length, 0);
});

test("a disc beyond 180° is near", () => {
  const [x = 0] = packDiscs([hotspot(0, -179.9, {})], mercator(0, 179.9));
  assert.ok(Math.abs(x - 0.2 / 360) < 1e-7);
});
