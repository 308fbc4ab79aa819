import assert from "node:assert/strict";
import { test } from "node:test";
import { nameIn, streetLayers, type Schema } from "../src/map/streets";
import type { Theme } from "../src/map/theme";

const theme = new Proxy({}, { get: (_, name) => `#${String(name)}` }) as Theme;

test("names are in the language, or else as people there write them", () => {
  assert.deepEqual(nameIn(""), ["get", "name"]);
  assert.deepEqual(nameIn("de"), ["coalesce", ["get", "name:de"], ["get", "name_de"], ["get", "name"]]);
});

test("both schemas draw the same things, from layers of their own", () => {
  const ids = (schema: Schema) => streetLayers(schema, theme, "").map(({ id }) => id.replace(/-\d$/, ""));
  const [protomaps, openmaptiles] = [ids("protomaps"), ids("openmaptiles")].map((all) => [...new Set(all)]);
  assert.deepEqual(
    protomaps?.filter((id) => id !== "street-land"), // which OpenMapTiles does not have
    openmaptiles,
  );
  for (const schema of ["protomaps", "openmaptiles"] as const) {
    const layers = streetLayers(schema, theme, "");
    assert.equal(new Set(layers.map(({ id }) => id)).size, layers.length, "an id is there twice");
    for (const layer of layers) assert.ok("source-layer" in layer && layer["source-layer"], layer.id);
  }
});
