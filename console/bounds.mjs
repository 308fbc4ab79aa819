// The bounds that the sources use, as in bounds.Name, from the OpenAPI document, the types of
// hotspots, their settings, and what other programs call the columns of a table: build.mjs and
// test.mjs put them where src/bounds.ts says BOUNDS.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { schemas } = JSON.parse(await readFile(join(here, "../internal/api/openapi.json"), "utf8")).components;
const files = (await readdir(join(here, "src"), { recursive: true })).filter((name) => /\.tsx?$/.test(name));
const sources = await Promise.all(files.map((name) => readFile(join(here, "src", name), "utf8")));
const names = new Set(sources.join("\n").match(/(?<=\bbounds\.)[A-Z]\w+/g).sort());

const kinds = ["integer", "number", "boolean", "object"]; // opening hours, which are long, come last
const settings = Object.entries(schemas.SettingsForm.properties).map(([name, form]) => {
  const { type, minimum, exclusiveMinimum, maximum } = schemas[(form.oneOf?.[0] ?? form).$ref.split("/").at(-1)];
  return { name, kind: type, above: exclusiveMinimum !== undefined, least: minimum ?? exclusiveMinimum ?? 0, most: maximum };
}).sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));

const otherNames = JSON.parse(await readFile(join(here, "../internal/importer/names.json"), "utf8"));
const all = { types: schemas.Type.enum, settings, otherNames };
for (const name of names) {
  const { minimum, minLength, maximum, maxLength } = schemas[name] ?? {};
  all[name] = { least: minimum ?? minLength ?? 0, most: maximum ?? maxLength };
  if (all[name].most === undefined) throw new Error(`the OpenAPI document has no bounds of ${name}`);
}
export const BOUNDS = JSON.stringify(JSON.stringify(all)); // a text, in JavaScript
