import assert from "node:assert/strict";
import { test } from "node:test";
import file from "../../internal/beacon/testdata/shades.json";
import { contrast, isColour, shadesOf } from "../src/shades";

const examples = file as unknown as { color: string; light: string; dark: string; on: string }[];

test("the shades of a colour are those of the server", () => {
  for (const { color, light, dark, on } of examples) assert.deepEqual({ color, ...shadesOf(color) }, { color, light, dark, on });
  assert.ok(examples.length >= 8);
});

test("contrasts are those of WCAG", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.equal(contrast("#dc0067", "#dc0067"), 1);
  assert.deepEqual(["#dc0067", "#DC0067", "red", "#fff", "#dc0067;"].map(isColour), [true, true, false, false, false]);
});
