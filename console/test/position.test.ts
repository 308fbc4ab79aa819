import assert from "node:assert/strict";
import { test } from "node:test";
import { direction, directionsTo, mapsOf } from "../src/position";

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

test("directions are those of the phone, or of OpenStreetMap", () => {
  const browse = (userAgent: string): void => void Object.defineProperty(globalThis, "navigator", { configurable: true, value: { userAgent } });
  const to = { lat: 52.52, lng: 13.4049999 };
  browse("Mozilla/5.0 (X11; Linux x86_64)");
  assert.equal(directionsTo(to, null), "https://www.openstreetmap.org/directions?to=52.52000,13.40500");
  assert.equal(directionsTo(to, { lat: -1, lng: 2 }), "https://www.openstreetmap.org/directions?from=-1.00000,2.00000&to=52.52000,13.40500");
  browse("Mozilla/5.0 (Linux; Android 16)");
  assert.equal(directionsTo(to, null), mapsOf(to));
});
