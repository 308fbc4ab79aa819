// Builds src/ into the folder that is given, or dist/. What it writes depends on
// the sources and the lock file alone: scripts/check-console builds it again and
// compares.
import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BOUNDS } from "./bounds.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
const assets = join(out, "assets");

// The worker of the map is a script of its own, which the map starts by its address.
const mapWorker = {
  name: "map-worker",
  setup(b) {
    // The path is part of what names are made of, so it must not tell where we are.
    b.onResolve({ filter: /^map-worker$/ }, () => ({
      path: "node_modules/maplibre-gl/dist/maplibre-gl-worker.mjs",
      namespace: "map-worker",
    }));
    b.onLoad({ filter: /.*/, namespace: "map-worker" }, async ({ path }) => {
      const source = await readFile(join(here, path), "utf8");
      const { code } = await transform(source, { minify: true, legalComments: "none" });
      return { contents: code, loader: "file" };
    });
  },
};

async function bundle() {
  const agent = await readFile(join(here, "../agent/beacon-agent"), "utf8");
  const { metafile } = await build({
    absWorkingDir: here,
    entryPoints: { console: "src/main.tsx" },
    outdir: assets,
    bundle: true,
    format: "esm",
    splitting: true,
    minify: true,
    legalComments: "none",
    target: ["es2022", "chrome109", "firefox115", "safari16.4"],
    jsx: "automatic",
    jsxImportSource: "preact",
    publicPath: "/assets/",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".json": "file", ".geojson": "file", ".svg": "file", ".txt": "file" },
    define: { AGENT_VERSION: JSON.stringify(/^VERSION=(.+)$/m.exec(agent)[1]), BOUNDS },
    plugins: [mapWorker],
    metafile: true,
  });
  const entry = Object.entries(metafile.outputs).find(([, o]) => o.entryPoint === "src/main.tsx");
  const name = (path) => path.split("/").at(-1);
  const map = Object.keys(metafile.outputs).find((path) => /^maplibre-gl-[0-9A-Z]+\.js$/.test(name(path)));
  // What the script shares with pages that are fetched later: without a word it would be asked for one by one.
  const shared = entry[1].imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => name(path));
  return { script: name(entry[0]), style: name(entry[1].cssBundle), map: name(map), shared };
}

// licences joins the texts of everything that the bundle may contain: the
// packages that it depends on, and what those depend on.
async function licences() {
  const seen = new Map();
  const visit = async (name) => {
    if (seen.has(name)) return;
    const folder = join(here, "node_modules", name);
    const pkg = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const files = (await readdir(folder)).filter((f) => /^(licen[cs]e|copying|notice)/i.test(f)).sort();
    const texts = await Promise.all(files.map((f) => readFile(join(folder, f), "utf8")));
    const text = texts.length > 0 ? texts.map((t) => t.trim()).join("\n\n") : `Licence: ${pkg.license}. ${author(pkg)}`;
    seen.set(name, `${pkg.name} ${pkg.version} (${pkg.license})\n\n${text}\n`);
    for (const dependency of Object.keys(pkg.dependencies ?? {})) await visit(dependency);
  };
  const own = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  for (const name of Object.keys(own.dependencies)) await visit(name);
  const extra = [
    "Outlines of New York's boroughs\n\nNew York City Department of City Planning; public domain.\n",
    "Outlines of land\n\nNatural Earth; public domain. Packaged as world-atlas, below.\n",
  ];
  const rule = "\n" + "-".repeat(78) + "\n\n";
  return (
    "What the console of Beacon contains, and the licences of it.\n" +
    rule +
    [...extra, ...[...seen.keys()].sort().map((n) => seen.get(n))].join(rule)
  );
}

function author(pkg) {
  const a = pkg.author;
  return a ? `Author: ${typeof a === "string" ? a : a.name}.` : "";
}

await rm(out, { recursive: true, force: true });
await mkdir(assets, { recursive: true });
const text = await licences();
const licenceFile = `licences-${createHash("sha256").update(text).digest("hex").slice(0, 8).toUpperCase()}.txt`;
await writeFile(join(assets, licenceFile), text);
const { script, style, map, shared } = await bundle();
const page = (await readFile(join(here, "src/index.html"), "utf8"))
  .replaceAll("{{script}}", `/assets/${script}`)
  .replaceAll("{{style}}", `/assets/${style}`)
  .replaceAll("{{map}}", `/assets/${map}`)
  .replaceAll("{{shared}}", shared.map((path) => `<link rel="modulepreload" href="/assets/${path}" />`).join("\n    "))
  .replaceAll("{{licences}}", `/assets/${licenceFile}`);
await writeFile(join(out, "index.html"), page);
