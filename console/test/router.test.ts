import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./page";

page.hash = "#/hotspots/hs_1/days"; // what the address says when the page is opened

test("the address says which page is shown", async () => {
  const { go, route } = await import("../src/router");
  assert.deepEqual(route.value, { page: "hotspots", id: "hs_1", part: "days", query: {}, sight: null });
  const seen: string[] = [];
  const stop = route.watch(({ page: name, id, part }) => seen.push(`${name}|${id}|${part}`));
  for (const path of ["/", "", "/map/hs_2", "/staff", "/hotspots/hs_%C3%A9/more", "/100%", "rewards"]) go(path);
  stop();
  go("/sign-in");
  assert.deepEqual(seen, ["||", "||", "|hs_2|", "staff||", "hotspots|hs_é|more", "100%||", "rewards||"]);
  assert.deepEqual(route.value, { page: "sign-in", id: "", part: "", query: {}, sight: null });
});

test("what the map shows stands in its address, and in no other", async () => {
  const { go, keepSight, route } = await import("../src/router");
  const sight = { lat: 40.7536, lng: -73.9832, zoom: 15 };
  go("/map/hs_2");
  let told = 0;
  const stop = route.watch(() => told++);
  keepSight(sight);
  assert.equal(page.hash, "#/map/hs_2?at=40.75360,-73.98320,15.00");
  assert.equal(told, 0);
  page.tell("hashchange"); // someone came back to it
  assert.deepEqual(route.value, { page: "", id: "hs_2", part: "", query: { at: "40.75360,-73.98320,15.00" }, sight });
  go("/");
  keepSight({ lat: -1, lng: 179.999999, zoom: 1.234 });
  assert.equal(page.hash, "#/map?at=-1.00000,180.00000,1.23");
  go("/rewards");
  keepSight(sight);
  assert.equal(page.hash, "#/rewards");
  stop();
});

test("what the map shows does not replace an address that asks for another place", async () => {
  const { go, keepSight, route } = await import("../src/router");
  const shown = { lat: 1, lng: 2, zoom: 3 };
  go("/map");
  page.hash = "#/map?at=52.52000,13.40500,11.00"; // typed, and the browser has not told of it yet
  keepSight(shown);
  page.tell("hashchange");
  assert.deepEqual(route.value.sight, { lat: 52.52, lng: 13.405, zoom: 11 });
  keepSight(shown);
  keepSight({ ...shown, zoom: 4 });
  assert.equal(page.hash, "#/map?at=1.00000,2.00000,4.00");
});

test("an address that asks for no place of the earth asks for none", async () => {
  const { go, route } = await import("../src/router");
  for (const at of ["", "1,2", "91,0,3", "0,181,3", "0,0,25", "0,0,-1", "1e1,0,3", "NaN,0,3", "1,2,3,4", "a"]) {
    go(`/map?at=${at}`);
    assert.equal(route.value.sight, null, at);
  }
  go("/map?at=-90,180,0&more=1");
  assert.deepEqual(route.value.sight, { lat: -90, lng: 180, zoom: 0 });
});
