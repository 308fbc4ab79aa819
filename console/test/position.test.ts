import assert from "node:assert/strict";
import { test } from "node:test";
import { direction, mapsOf } from "../src/position";

test("a direction is one of eight", () => {
  const here = { lat: 40.75, lng: -73.98 };
  assert.equal(direction(here, { lat: 40.76, lng: -73.98 }), "north");
  assert.equal(direction(here, { lat: 40.75, lng: -73.97 }), "east");
  assert.equal(direction(here, { lat: 40.74, lng: -73.98 }), "south");
  assert.equal(direction(here, { lat: 40.75, lng: -73.99 }), "west");
  assert.equal(direction(here, { lat: 40.7576, lng: -73.99 }), "northwest");
  assert.equal(direction({ lat: 0, lng: 179.99 }, { lat: 0, lng: -179.99 }), "east"); // across the date line
});

test("a phone opens its own maps", () => {
  assert.equal(mapsOf({ lat: -1.5, lng: 2 }), "geo:-1.5,2?q=-1.5,2");
});
