// Looks through the sources for texts that are not messages, and for messages that
// nobody says. The sources are read as esbuild writes them: no comments, no JSX.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { build, transform } from "esbuild";

const src = join(process.cwd(), "src");
const paths = (await readdir(src, { recursive: true })).filter((path) => /\.tsx?$/.test(path) && !path.startsWith("messages") && !path.endsWith(".d.ts") && path !== "map/shaders.ts"); // which are programs in strings
const sources = await Promise.all(
  paths.map(async (path) => {
    const { code } = await transform(await readFile(join(src, path), "utf8"), { loader: "tsx", charset: "utf8", jsx: "automatic", jsxImportSource: "preact" });
    return { path, code };
  }),
);

/** Every string of a program, and the parts of its templates, with what stands before it. */
function* strings(code) {
  const templates = []; // how many braces are open inside of each that is open
  let before = "";
  for (let i = 0; i < code.length; i++) {
    const c = code[i];
    const open = templates.length - 1;
    const closes = c === "}" && templates[open] === 0;
    if (c === "{" && open >= 0) templates[open]++;
    if (c === "}" && open >= 0 && !closes) templates[open]--;
    if (closes) templates.pop();
    if (c === '"' || c === "'" || c === "`" || closes) {
      const end = closes ? "`" : c;
      let text = "";
      for (i++; code[i] !== end; i++) {
        assert.ok(i < code.length, "a string without an end");
        if (code[i] === "\\") i++;
        else if (end === "`" && code.startsWith("${", i)) break;
        text += code[i];
      }
      if (end === "`" && code[i] === "$") {
        templates.push(0);
        i++;
      }
      yield { text: text.replace(/\s+/g, " "), before };
      before = '"';
    } else if (c === "/" && /(^|[(,=:[!&|?{};>]|return)\s*$/.test(before)) {
      for (let set = false, escaped = false; ; ) {
        const r = code[++i];
        if (!escaped && !set && r === "/") break;
        if (!escaped && (r === "[" || r === "]")) set = r === "[";
        escaped = !escaped && r === "\\";
      }
      before = "/";
    } else {
      before = (before + c).slice(-60);
    }
  }
}

const shown = /(?<!\w)(children|"aria-label"|"aria-valuetext"|title|label|placeholder|hint|nothing|alt): \[?$/;
const prose = /\p{L}[,;:.]? \p{L}|^\s?\p{Lu}\p{Ll}|^ \p{L}|\p{L} $/u;
// What reads like a text, and is none.
const names = new Set([
  ...["Beacon", "NYC Planning", "Natural Earth", "Manhattan", "Brooklyn", "Queens", "Bronx", "Staten Island"], // names that others gave
  ...["beacon keys invite", "beacon rewards verify FILE", "beacon serve --public --basemap FILE", "beacon basemap get ", " streets.pmtiles beacon serve", " --public", "--public-url", "--basemap", " --basemap streets.pmtiles"],
  ...[" m²", " km²", " km", " GB", "<1 MB", " min", " Mbit/s"],
  ...["Bearer ", "Content-Type", "Authorization", "Retry-After", "X-Request-Id", "Idempotency-Key", "Idempotency-Replayed", "If-Match", "Accept", "Last-Event-ID", "Content-Disposition"],
  ...["Beacon-Account", "Beacon-Sign-In", "PublicKeyCredential", "InvalidStateError", "email webauthn", "one-time-code webauthn", "Android", "Mac", "Windows", "Chromebook", "Linux"],
  ...["AbortError", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"],
  ...["Point", "Polygon", "MultiPolygon", "LineString", "Feature", "FeatureCollection", "Low", "Medium", "GeolocateControl.FindMyLocation"], // of the map
  ...["live on", "panel folded", "number spare", "mark spare", "quiet danger", "12px ", "#9aa7b8"], // of styles
  ...["input, select, button", "input, .results button", "(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)"],
]);

test("pages have no texts of their own", () => {
  const found = sources.flatMap(({ path, code }) =>
    [...strings(code)]
      .filter(({ text, before }) => /\p{L}{2}/u.test(text) && !names.has(text) && !/\b(class|className|for|d|viewBox): [^,]*$/.test(before) && (prose.test(text) || shown.test(before)))
      .map(({ text }) => `${path}: ${text}`),
  );
  assert.deepEqual(found, []);
});

test("each message is said by a page", async () => {
  const { outputFiles } = await build({ entryPoints: [join(src, "messages/en/index.ts")], bundle: true, format: "esm", write: false });
  const { en } = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
  const all = (group, name) => Object.entries(group).flatMap(([key, value]) => (typeof value === "object" ? all(value, `${name}.${key}`) : [`${name}.${key}`]));
  const said = new Set(sources.flatMap(({ code }) => code.match(/\bt(\.\w+)+/g) ?? []));
  const isSaid = (message) => said.has(message) || [...said].some((group) => message.startsWith(`${group}.`));
  assert.deepEqual(all(en, "t").filter((message) => !isSaid(message)), []);
});
