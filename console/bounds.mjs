// The bounds that the sources use, as in bounds.Name, from the OpenAPI document, and the types
// of hotspots: build.mjs and test.mjs put them where src/bounds.ts says BOUNDS.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { schemas } = JSON.parse(await readFile(join(here, "../internal/api/openapi.json"), "utf8")).components;
const files = (await readdir(join(here, "src"), { recursive: true })).filter((name) => /\.tsx?$/.test(name));
const sources = await Promise.all(files.map((name) => readFile(join(here, "src", name), "utf8")));
const names = new Set(sources.join("\n").match(/(?<=\bbounds\.)[A-Z]\w+/g).sort());

const all = { types: schemas.Type.enum };
for (const name of names) {
  const { minimum, minLength, maximum, maxLength } = schemas[name] ?? {};
  all[name] = { least: minimum ?? minLength ?? 0, most: maximum ?? maxLength };
  if (all[name].most === undefined) throw new Error(`the OpenAPI document has no bounds of ${name}`);
}
export const BOUNDS = JSON.stringify(JSON.stringify(all)); // a text, in JavaScript
