import "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestPath, placeOf } from "../src/parts/feed";

test("the nearest are asked for around a place that is as exact as need be", () => {
  assert.equal(nearestPath({ lat: 52.5200066, lng: 13.404954 }, 20), "/open/nearest?lat=52.5200&lng=13.4050&limit=20");
  assert.equal(nearestPath({ lat: -1, lng: -179.99999 }, 8, "Café & Bar"), "/open/nearest?lat=-1.0000&lng=-180.0000&limit=8&q=Caf%C3%A9+%26+Bar");
});

test("a feature's longitude comes first", () => {
  assert.deepEqual(placeOf({ geometry: { coordinates: [13, 52] } } as Parameters<typeof placeOf>[0]), { lat: 52, lng: 13 });
});
