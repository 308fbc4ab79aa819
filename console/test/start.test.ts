import assert from "node:assert/strict";
import { test } from "node:test";
import "./page";

const places = (...list: [number, number][]) => list.map(([lat, lng]) => ({ lat, lng }));

test("a box around places leaves out the widest gap", async () => {
  const { boxAroundAll } = await import("../src/geo");
  assert.equal(boxAroundAll([]), null);
  assert.deepEqual(boxAroundAll(places([52.5, 13.4])), [13.4, 52.5, 13.4, 52.5]);
  assert.deepEqual(boxAroundAll(places([52.5, 13.4], [52.4, 13.6])), [13.4, 52.4, 13.6, 52.5]);
  assert.deepEqual(boxAroundAll(places([-17, 178], [-16, -179])), [178, -17, 181, -16]);
});

test("a demo of another city has a circle around its places, with the city's name", async () => {
  const { madeUp } = await import("../src/map/places");
  const { demoStreets } = await import("../src/streetbox");
  const said: Record<string, string> = {};
  document.querySelector = ((asked: string) => ({ content: said[/beacon-([a-z-]+)/.exec(asked)?.[1] ?? ""] ?? "" })) as never;
  assert.equal(madeUp(), null);
  said["start"] = `{"box":[-99.21,19.35,-99.05,19.51]}`;
  assert.equal(madeUp(), null); // no demo
  said["demo"] = "new-york";
  assert.equal(madeUp(), null); // which has outlines
  assert.equal(demoStreets(), `beacon basemap get "new york" new-york.pmtiles`);
  said["demo"] = "mexico-city";
  const { name, ring, top } = madeUp()!;
  assert.equal(name, "Mexico City");
  assert.equal(demoStreets(), `beacon basemap get "mexico city" mexico-city.pmtiles`);
  const lngs = ring.map(([lng = 0]) => lng);
  const lats = ring.map(([, lat = 0]) => lat);
  assert.ok(Math.min(...lngs) < -99.21 && Math.max(...lngs) > -99.05 && Math.min(...lats) < 19.35 && Math.max(...lats) > 19.51, "all places are in it");
  assert.ok(Math.abs((Math.max(...lats) - Math.min(...lats)) / ((Math.max(...lngs) - Math.min(...lngs)) * Math.cos((19.43 * Math.PI) / 180)) - 1) < 0.01, "it is round");
  assert.deepEqual(top, { lat: Math.max(...lats), lng: -99.13 });
  said["demo"] = "berlin";
  assert.equal(demoStreets(), "beacon basemap get berlin berlin.pmtiles");
});

test("a map begins where staff say, or else where its streets or hotspots are", async () => {
  const { findStart } = await import("../src/start");
  const said: Record<string, string> = {};
  document.querySelector = ((asked: string) => ({ content: said[/beacon-([a-z-]+)/.exec(asked)?.[1] ?? ""] ?? "" })) as never;
  assert.deepEqual(await findStart(), {}); // the world
  said["start"] = `{"box":[13,52,14,53]}`;
  assert.deepEqual(await findStart(), { box: [13, 52, 14, 53] });
  said["basemap"] = `{"file":"/basemap.pmtiles","bounds":[5.8,47.2,15,55]}`;
  assert.deepEqual(await findStart(), { box: [13, 52, 14, 53] }); // of all Germany, that city
  said["basemap"] = `{"file":"/basemap.pmtiles","bounds":[13.2,52.4,13.6,52.6]}`;
  assert.deepEqual(await findStart(), { box: [13.2, 52.4, 13.6, 52.6] });
  said["start"] = "{}"; // there are no hotspots yet
  assert.deepEqual(await findStart(), { box: [13.2, 52.4, 13.6, 52.6] });
  said["start"] = `{"view":{"lat":52.5,"lng":13.4,"zoom":11}}`;
  assert.deepEqual(await findStart(), { view: { lat: 52.5, lng: 13.4, zoom: 11 } });
  said["preview"] = "yes";
  assert.deepEqual(await findStart(), { box: [-74.06, 40.58, -73.75, 40.9] });
});
