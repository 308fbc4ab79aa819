import assert from "node:assert/strict";
import { test } from "node:test";
import { streetCommands } from "../src/streetbox";

const of = (...box: [number, number, number, number]): string => streetCommands(box, false).split("\n")[0]!;

test("streets are got with some room around the hotspots", () => {
  assert.equal(of(13.35, 52.49, 13.45, 52.53), "beacon basemap get 13.30,52.44,13.50,52.58 streets.pmtiles");
  assert.equal(of(-74.1, 40.6, -73.7, 40.9), "beacon basemap get -74.15,40.55,-73.65,40.95 streets.pmtiles");
  assert.equal(streetCommands(null, false), "beacon basemap get CITY streets.pmtiles\nbeacon serve --basemap streets.pmtiles");
  for (const far of [of(-10, 0, 10, 1), of(179.9, 0, 180.3, 1)]) assert.equal(far, "beacon basemap get CITY streets.pmtiles");
});

test("a public network stays public when it is started with streets", () => {
  assert.equal(streetCommands(null, true), "beacon basemap get CITY streets.pmtiles\nbeacon serve --public --basemap streets.pmtiles");
});
