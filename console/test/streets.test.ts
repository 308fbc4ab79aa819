import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnFrom } from "../src/map/basemap";
import { nameIn, streetLayers, type Schema } from "../src/map/streets";
import type { Theme } from "../src/map/theme";

const theme = new Proxy({}, { get: (_, name) => `#${String(name)}` }) as Theme;

test("names are in the language, or else as people there write them", () => {
  assert.deepEqual(nameIn(""), ["get", "name"]);
  assert.deepEqual(nameIn("de"), ["coalesce", ["get", "name:de"], ["get", "name_de"], ["get", "name"]]);
});

test("all schemas draw the same things, from layers of their own", () => {
  const ids = (schema: Schema) => [...new Set(streetLayers(schema, theme, "").map(({ id }) => id.replace(/-\d$/, "")))];
  const without = (...left: string[]) => ids("protomaps").filter((id) => !left.includes(id));
  assert.deepEqual(ids("openmaptiles"), without("street-land"));
  assert.deepEqual(ids("plain"), without("street-land", "street-buildings", "street-borders", "street-water-names", "street-regions"));
  for (const schema of ["protomaps", "openmaptiles", "plain"] as const) {
    const layers = streetLayers(schema, theme, "");
    assert.equal(new Set(layers.map(({ id }) => id)).size, layers.length, "an id is there twice");
    for (const layer of layers) assert.ok("source-layer" in layer && layer["source-layer"], layer.id);
  }
});

test("a small file whose tiles begin close to the ground is drawn from further away", () => {
  assert.equal(drawnFrom(10, [-74.27, 40.48, -73.68, 40.93]), 8); // a city: nine tiles
  assert.equal(drawnFrom(10, [5.8, 47.2, 15, 55]), 10); // a country: its tiles are too many to be in sight
  assert.equal(drawnFrom(1, [-180, -85, 180, 85]), 0);
  assert.equal(drawnFrom(0, [-180, -85, 180, 85]), 0);
});
