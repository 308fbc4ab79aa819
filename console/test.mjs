// Bundles test/*.test.ts, as build.mjs does the pages, and runs them by Node's own
// runner, with test/*.test.mjs as they are. What they touch of a browser they bring along: see test/page.ts.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BOUNDS } from "./bounds.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = await mkdtemp(join(tmpdir(), "beacon-console-"));
try {
  const names = await readdir(join(here, "test"));
  const tests = names.filter((name) => name.endsWith(".test.ts"));
  await build({
    absWorkingDir: here,
    entryPoints: tests.map((name) => join("test", name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    sourcemap: "inline",
    define: { BOUNDS },
  });
  const plain = names.filter((name) => name.endsWith(".test.mjs")).map((name) => join(here, "test", name));
  const files = [...plain, ...tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")))];
  // How numbers and times are written depends on these.
  const env = { ...process.env, LC_ALL: "en_US.UTF-8", TZ: "UTC" };
  process.exitCode = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", ...files], { cwd: here, env, stdio: "inherit" }).status ?? 1;
} finally {
  await rm(out, { recursive: true, force: true });
}
