import assert from "node:assert/strict";
import { test } from "node:test";
import { boxAround, distance, parsePlace, pixelsPerMetre, placeIn, roundPlace, wrapLng } from "../src/geo";

const near = (got: number, want: number, by: number): void => assert.ok(Math.abs(got - want) <= by, `${got} is not ${want}`);

test("distances are those of a sphere, across ±180° and over the poles", () => {
  const degree = 111_195.08; // of a great circle, on the mean Earth
  for (const [a, b, want] of [
    [{ lat: 0, lng: 0 }, { lat: 1, lng: 0 }, degree],
    [{ lat: 0, lng: 179.5 }, { lat: 0, lng: -179.5 }, degree],
    [{ lat: 89.5, lng: 10 }, { lat: 89.5, lng: -170 }, degree],
    [{ lat: 60, lng: 0 }, { lat: 60, lng: 1 }, degree * 0.499991], // a little less than half: a parallel is no shortest way
    [{ lat: 0, lng: 0 }, { lat: 0, lng: 180 }, 180 * degree],
    [{ lat: 40.7, lng: -74 }, { lat: 40.7, lng: -74 }, 0],
  ] as const)
    near(distance(a, b), want, 2);
});

test("longitudes are brought into one round", () => {
  for (const [lng, want] of [
    [0, 0],
    [180, -180],
    [-180, -180],
    [181, -179],
    [-181, 179],
    [720.5, 0.5],
    [-1000, 80],
  ] as const)
    assert.equal(wrapLng(lng), want);
});

test("a metre is half as wide on the map when one goes one zoom out, and wider in the north", () => {
  near(pixelsPerMetre(11, 40) / pixelsPerMetre(10, 40), 2, 1e-12);
  near(pixelsPerMetre(10, 60) / pixelsPerMetre(10, 0), 2, 1e-12);
  near(1 / pixelsPerMetre(0, 0), 78_184.2, 0.5); // the Earth's girth in 512 pixels
});

test("a box around a place holds the disc, also at ±180° and at the poles", () => {
  const box = boxAround({ lat: 0, lng: 179.9 }, 22_239);
  near(box.north, 0.2, 1e-3);
  near(box.west, 179.7, 1e-3);
  near(box.east, -179.9, 1e-3);
  assert.equal(boxAround({ lat: 89.99, lng: 0 }, 5000).north, 90);
  assert.equal(boxAround({ lat: -89.99, lng: 0 }, 5000).south, -90);
  for (const lat of [0, 40.7, -66]) {
    const { north, east } = boxAround({ lat, lng: 0 }, 1000);
    near(distance({ lat, lng: 0 }, { lat: north, lng: 0 }), 1000, 0.1);
    assert.ok(distance({ lat, lng: 0 }, { lat, lng: east }) >= 999.9, `too narrow at ${lat}`);
  }
});

test("coordinates are read as people type them, and nothing else is", () => {
  for (const [text, lat, lng] of [
    ["40.7536, -73.9832", 40.7536, -73.9832],
    [" 40.7536;-73.9832 ", 40.7536, -73.9832],
    ["-90 180", -90, 180],
    ["0,0", 0, 0],
  ] as const)
    assert.deepEqual(parsePlace(text), { lat, lng });
  for (const text of ["", "40.7", "40.7,", "90.1, 0", "0, 180.1", "1e1, 2", "40°, 5", "a, b", "1, 2, 3", "1.2.3, 4", "NaN, NaN"]) assert.equal(parsePlace(text), null, text);
});

test("a reason may name the place where a visit found a hotspot", () => {
  assert.deepEqual(placeIn("a visit found it 340 m from where it is registered, at 40.71234, -74.00123"), { lat: 40.71234, lng: -74.00123 });
  assert.deepEqual(placeIn("en -33.44889, -70.66927; muévalo"), { lat: -33.44889, lng: -70.66927 });
  for (const none of ["", "a visit found the hotspot 340 m from where it is registered", "at 99.12345, 10.12345", "on 12.5, at 3"]) assert.equal(placeIn(none), null);
  assert.deepEqual(roundPlace({ lat: 40.71234567, lng: -74.00000049 }), { lat: 40.712346, lng: -74 });
});
