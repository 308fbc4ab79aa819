import "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import examples from "../../internal/importer/testdata/tables.json";
import { macOf, mostRows, readTable, recognize, type Row } from "../src/import/rows";
import { keyOf, readAll, register, results, template } from "../src/import/run";
import type { Hotspot } from "../src/types";

interface Example {
  name: string;
  text: string;
  rows: { line: number; cells?: Record<string, string>; broken?: boolean }[] | null;
}

const head = "name,type,lat,lng,ssid,mac_address";
const read = (text: string) => readTable(new TextEncoder().encode(text));

/** Why a file is refused as a whole. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  return "";
}

test("tables are read as beacon import reads them", () => {
  const tables = examples as unknown as Example[];
  assert.ok(tables.length > 20);
  for (const { name, text, rows: want } of tables) {
    if (!want) {
      assert.ok(refusal(() => read(text)), name);
      continue;
    }
    const { rows } = read(text);
    assert.deepEqual(rows.map(({ line }) => line), want.map(({ line }) => line), name);
    rows.forEach((row, i) => {
      if (want[i]?.broken) assert.ok(/^(cannot be read|has \d+ cells?, )/.test(row.why) && row.body === null, name);
      else assert.deepEqual(row.cells, want[i]?.cells, name);
    });
  }
});

test("a file that is not UTF-8, or too long, is refused", () => {
  assert.ok(refusal(() => readTable(new Uint8Array([0xff, 0xfe, 0x6e, 0]))).includes("UTF-8"));
  assert.ok(refusal(() => readTable(new TextEncoder().encode(head + "\nCaf").fill(0xe9, head.length))).includes("UTF-8"));
  const line = "\nOne,home,1,2,x,02005e000001";
  assert.equal(read(head + line.repeat(mostRows)).rows.length, mostRows);
  assert.ok(refusal(() => read(head + line.repeat(mostRows + 1))).includes("beacon import"));
});

test("true and false are settings too", () => {
  const flag = (text: string) => read(`${head},show_ssid\nAbc,home,1,2,x,02005e000001,${text}`).rows;
  for (const [text, settings] of [["", undefined], ["true", { show_ssid: true }], [" false ", { show_ssid: false }]] as const) assert.deepEqual(flag(text)[0]?.body?.settings, settings);
  for (const text of ["yes", "TRUE", "1", "null"]) assert.equal(flag(text)[0]?.why, "show_ssid must be true or false");
  const there = { ...hotspot, name: "Abc", settings: { ...hotspot.settings, show_ssid: true } } as Hotspot;
  for (const [text, mine, why] of [["", there, ""], ["true", there, ""], ["false", there, "left as it is; it differs in show_ssid"], ["false", { ...hotspot, name: "Abc" }, ""]] as const) {
    const rows = flag(text);
    recognize(rows, [mine]);
    assert.equal(rows[0]?.why, why);
  }
});

const more = `${head},max_connections,bandwidth_limit_mbps,coverage_radius_m,operating_hours,address`;

test("a row says all that is wrong with it", () => {
  for (const [line, why] of [
    ["Abc,home,1,2,x,02005e000001,,,,,", ""],
    ["Abc,home,1,2,x,02005e000001,16,0.5,10,{},", ""],
    [",,,,,,,,,,", "name is required; type is required; lat is required; lng is required; ssid is required; mac_address is required"],
    ["Ab,shop,91,-181,x,1,,,,,", "name must be 3 to 50 characters; type must be home, business or public; lat must be -90 to 90; lng must be -180 to 180; mac_address must be a MAC address, such as 02:00:5e:10:00:01"],
    ["Abc,home,0x10,NaN,x,02005e000001,,,,,", "lat must be a number, such as 40.7532; lng must be a number, such as 40.7532"],
    ['Abc,home,"40,75","-2,5",x,02005e000001,,,,,', ""],
    ['Abc,home,"40,75,1",1e999,x,02005e000001,,,,,', "lat must be a number, such as 40.7532; lng must be a number, such as 40.7532"],
    [`Abc,home,1,2,${"é".repeat(17)},03005e000001,1.5,0,501,[],${"x".repeat(201)}`, "address must be at most 200 characters; ssid must be 1 to 32 letters long, where an accented one counts as two and an emoji as four; mac_address must be the address of one device, not broadcast, multicast or all zeros; max_connections must be a whole number; bandwidth_limit_mbps must be more than 0 and at most 100000; coverage_radius_m must be 10 to 500; operating_hours must be JSON, as in the template"],
    ["Abc,home,1,2,x,000000000000,0,1,9,nonsense,", "mac_address must be the address of one device, not broadcast, multicast or all zeros; max_connections must be 1 to 10000; coverage_radius_m must be 10 to 500; operating_hours must be JSON, as in the template"],
  ] as const) {
    const [row] = read(`${more}\n${line}`).rows;
    assert.equal(row?.why, why);
    assert.equal(row?.body === null, why !== "");
  }
});

test("a row becomes what the form would send", () => {
  const [row] = read(`${more}\n Abc ,home,-0.5,1e1, x ,02-00-5E-00-00-01,16,,,"{""timezone"":""UTC"",""weekly"":[]}",Here`).rows;
  assert.deepEqual(row?.body, {
    name: "Abc",
    type: "home",
    location: { lat: -0.5, lng: 10, address: "Here" },
    device: { ssid: " x ", mac_address: "02-00-5E-00-00-01" },
    settings: { max_connections: 16, operating_hours: { timezone: "UTC", weekly: [] } },
  });
  assert.ok(read(template()).rows.every(({ outcome }) => outcome === "ready"));
});

test("addresses are compared however they are written", () => {
  for (const text of ["02:00:5e:10:00:0A", "02-00-5e-10-00-0a", "02.00.5e.10.00.0a", "0200.5e10.000a", "02005E10000A"]) assert.equal(macOf(text), "02005e10000a");
  for (const text of ["", "02:00-5e:10:00:0a", "0200:5e10:000a", "02005e10000", "02 00 5e 10 00 0a", "02:00:5e:10:00:0g"]) assert.equal(macOf(text), "", text);
  const { rows } = read(`${head}\nOne,home,1,2,x,02005e000001\nTwo,home,1,2,x,02:00:5E:00:00:01\n`);
  assert.deepEqual(rows.map(({ why }) => why), ["", "mac_address is that of line 2 too"]);
});

const hotspot = { id: "hs_1", name: "One", type: "home", location: { lat: 1, lng: 2, verified: false }, device: { ssid: "x", mac_address: "02:00:5e:00:00:01" }, settings: { max_connections: 16, bandwidth_limit_mbps: 50 } } as Hotspot;

test("what is there already is recognized, and says what differs", () => {
  const { rows } = read(`${head}\nOne,home,1,2,x,02005e000001\nTwo,home,1,2,x,02005e000002\n`);
  recognize(rows, [{ ...hotspot, name: "Renamed" }]);
  assert.deepEqual(rows.map(({ outcome, why, id }) => [outcome, why, id]), [
    ["present", "left as it is; it differs in name", "hs_1"],
    ["ready", "", ""],
  ]);
});

test("a registration has a key of its own, the same in every import", () => {
  const line = (n: number): string => `Hotspot ${n},home,1,2,x,02005e${n.toString(16).padStart(6, "0")}`;
  const bodies = read([head, ...Array.from({ length: 3000 }, (_, n) => line(n))].join("\n")).rows.map(({ body }) => body!);
  assert.equal(new Set(bodies.map(keyOf)).size, 3000);
  assert.ok(bodies.every((body) => /^[!-~]{1,255}$/.test(keyOf(body))));
  assert.equal(keyOf(bodies[7]!), keyOf(read(`${head}\n${line(7)}`).rows[0]!.body!));
});

// A server that registers a MAC address once, and repeats what a key made.
const made = new Map<string, string>(); // id by key
const gone = new Set<string>();
let own: Hotspot[] = []; // as the server lists them
let trouble: (n: number) => Response | Error | undefined = () => undefined;
let asked = 0;
const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response => new Response(JSON.stringify(body), { status, headers });

globalThis.fetch = (path, init) => {
  const wrong = trouble(++asked);
  if (wrong instanceof Error) return Promise.reject(wrong);
  if (wrong) return Promise.resolve(wrong);
  if (String(path).includes("/v1/users/me/hotspots")) return Promise.resolve(json(200, { data: own }));
  if (init?.method !== "POST") {
    const id = String(path).split("/").at(-1) ?? "";
    return Promise.resolve(gone.has(id) ? json(404, { error: { code: "not_found", message: "No." } }) : json(200, { data: { ...hotspot, id } }));
  }
  const key = new Headers(init.headers).get("Idempotency-Key") ?? "";
  const known = made.get(key);
  if (!known) made.set(key, `hs_${made.size + 1}`);
  return Promise.resolve(json(201, { data: { id: made.get(key) } }, known ? { "Idempotency-Replayed": "true" } : {}));
};

const outcomes = (rows: Row[]): string => rows.map(({ outcome, why }) => outcome + (why && `: ${why}`)).join(" | ");
const table = (count: number): Row[] => read([head, ...Array.from({ length: count }, (_, n) => `One,home,1,2,x,02005e00000${n + 1}`)].join("\n")).rows;

test("every row is sent once; what is sent again is not registered again", async () => {
  const rows = table(9);
  await register(rows, new AbortController().signal, () => undefined);
  assert.equal(outcomes(rows), Array(9).fill("registered").join(" | "));
  assert.equal(made.size, 9);
  const again = table(9);
  gone.add(made.get(keyOf(again[4]!.body!))!); // it was deleted meanwhile, and is registered again
  await register(again, new AbortController().signal, () => undefined);
  assert.equal(outcomes(again), Array.from({ length: 9 }, (_, i) => (i === 4 ? "registered" : "present")).join(" | "));
  assert.equal(made.size, 10);
});

test("a network that breaks stops the import, and what was lost is found when it goes on", async () => {
  made.clear();
  gone.clear();
  asked = 0;
  const real = globalThis.fetch;
  globalThis.fetch = async (path, init) => {
    const answer = await real(path, init);
    if (asked > 3 && asked < 8) throw new Error("the line is cut"); // after it was done
    return answer;
  };
  const rows = table(9);
  await assert.rejects(register(rows, new AbortController().signal, () => undefined), (error) => (error as { status: number }).status === 0);
  assert.ok(rows.some(({ outcome }) => outcome === "ready"));
  assert.ok(asked < 9); // it does not try all of them
  globalThis.fetch = real;
  await register(rows, new AbortController().signal, () => undefined);
  assert.equal(outcomes(rows), Array(9).fill("registered").join(" | "));
  assert.equal(made.size, 9);
});

test("what the server refuses is a row's own, or ends the import", async () => {
  made.clear();
  asked = 0;
  const error = (status: number, details?: unknown, headers = {}): Response => json(status, { error: { code: "x", message: "No.", details } }, headers);
  trouble = (n) =>
    n === 1 ? error(409) : n === 2 ? error(400, [{ field: "location.lat", message: "must be dry" }, { field: "name", message: "is rude" }]) : n === 3 ? error(429, undefined, { "Retry-After": "0" }) : undefined;
  const rows = table(4);
  await register(rows, new AbortController().signal, () => undefined);
  assert.equal(outcomes(rows), "refused: mac_address is registered already, by someone else | refused: lat must be dry; name is rude | registered | registered");
  // Another tab registered it since the file was chosen.
  own = [{ ...hotspot, id: "hs_mine", device: { ...hotspot.device, mac_address: "02:00:5e:00:00:02" } }];
  asked = 0;
  trouble = (n) => (n <= 3 ? error(409) : undefined);
  const mixed = table(3);
  mixed[2]!.body!.name = "Other";
  own.push({ ...hotspot, id: "hs_other", device: { ...hotspot.device, mac_address: "02:00:5e:00:00:03" } });
  await register(mixed, new AbortController().signal, () => undefined);
  assert.equal(outcomes(mixed), "refused: mac_address is registered already, by someone else | present: you have registered it already | present: left as it is; it differs in name");
  assert.deepEqual(mixed.map(({ id }) => id), ["", "hs_mine", "hs_other"]);
  own = [];
  trouble = () => error(403); // as when the quota is used up
  const others = table(9);
  await assert.rejects(register(others, new AbortController().signal, () => undefined), (failed) => (failed as { status: number }).status === 403);
  assert.equal(outcomes(others), Array(9).fill("ready").join(" | "));
  trouble = () => undefined;
});

test("a stopped import sends no more, and is no error", async () => {
  made.clear();
  const stop = new AbortController();
  const rows = table(9);
  await register(rows, stop.signal, () => stop.abort());
  assert.ok(made.size <= 4 && rows.some(({ outcome }) => outcome === "ready"));
});

test("all hotspots are read, page by page", async () => {
  const pages = [[1, 2], [3]];
  trouble = (n) => json(200, { data: pages[n - 1]?.map((id) => ({ id })), pagination: { next: n < pages.length ? `c${n}` : null } });
  asked = 0;
  assert.deepEqual((await readAll(new AbortController().signal)).map(({ id }) => id), [1, 2, 3]);
  trouble = () => undefined;
});

test("results can be mended and imported again", () => {
  const { rows } = read(`${more}\n=1+1,home,-1.50,-73.9,"  x",02005e000001,,,,,"-"\nOne,shop,-1,2,x,02005e000002,,,,,\n"a ""b"", c",home,1,2,x,02005e000003,,,,,`);
  rows[0]!.outcome = "registered";
  rows[0]!.id = "hs_1";
  const text = results(rows);
  assert.ok(text.startsWith("line,result,reason,hotspot_id,name,"));
  assert.ok(text.includes("\r\n3,refused,\"type must be home, business or public\",,One,shop,-1,2,x,"));
  assert.ok(text.includes("\r\n4,to_do,"));
  const again = read(text);
  assert.deepEqual(again.rows.map(({ cells }) => cells), rows.map(({ cells }) => cells));
  assert.deepEqual(again.unused, []);
});
