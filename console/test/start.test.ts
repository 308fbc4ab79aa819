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
