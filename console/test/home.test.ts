import assert from "node:assert/strict";
import { test } from "node:test";
import { toCSV } from "../src/csv";
import { attention, choose, headline, hotspotsCSV, inWords } from "../src/home";
import { statementCSV } from "../src/statement";
import type { Hold, Hotspot, Statement, Status } from "../src/types";

function hotspot(id: string, name: string, status: Status, rest: { uptime?: number; fell?: string; reason?: string; proven?: string } = {}): Hotspot {
  return {
    id,
    name,
    status,
    type: "public",
    location: { lat: 1, lng: 2, verified: status !== "pending", ...(rest.reason ? { unverified_reason: rest.reason } : {}), ...(rest.proven ? { proven_until: rest.proven } : {}) },
    device: { linked: true },
    metrics: {
      uptime_30d: rest.uptime ?? 1,
      bandwidth_used_24h_gb: 3,
      last_seen_at: "2026-11-15T10:00:00Z",
      ...(rest.fell ? { counters_fell_at: rest.fell } : {}),
    },
  } as unknown as Hotspot;
}

const all = [hotspot("hs_1", "Berta", "online", { uptime: 0.5 }), hotspot("hs_2", "=Anna", "offline"), hotspot("hs_3", "Cäsar", "pending"), hotspot("hs_4", "Doris", "online")];
const now = Date.parse("2026-11-15T12:00:00Z");

test("one line says how it is", () => {
  assert.equal(headline(all, 664.8421), "2 of 4 online · 664.84 credits this month");
  assert.equal(headline(all, undefined), "2 of 4 online");
});

test("what needs attention is listed, the worst first", () => {
  const hold = { hotspot_id: "hs_1", status: "active", reason: "Moved.", until: "2026-12-01T00:00:00Z" } as Hold;
  const fell = [...all, hotspot("hs_5", "Emil", "online", { fell: "2026-11-14T00:00:00Z" }), hotspot("hs_6", "Fritz", "online", { fell: "2026-10-14T00:00:00Z" })];
  const told = attention(fell, [hold, { ...hold, status: "released" }, { ...hold, hotspot_id: null }], now);
  assert.deepEqual(
    told.map(({ name, what }) => `${name}: ${what}`),
    ["Berta: rewards held", "All your hotspots: rewards held", "=Anna: offline", "Emil: counters fell", "Cäsar: pending"],
  );
  assert.ok(told[4]?.why.includes("verify its location"));
  assert.deepEqual(attention([hotspot("hs_1", "Berta", "online")], [], now), []);
});

test("a proof that ends soon is told with its date, and what to do", () => {
  const proven = (until: string): string[] => attention([hotspot("hs_1", "Berta", "online", { proven: until })], [], now).map(({ what, why }) => `${what}: ${why}`);
  assert.deepEqual(proven("2026-12-15T12:00:00.000Z"), []); // in 30 days
  assert.ok(/^proof ends soon: Visits prove its place until .*Dec 15.*Ask the network's staff/.test(proven("2026-12-15T11:59:59.999Z").join()));
  assert.ok(proven("2026-11-15T12:00:00.000Z").join().startsWith("proof has ended: "));
});

test("the list is searched, filtered and sorted", () => {
  const earned = new Map([["hs_4", 2], ["hs_1", 5]]);
  const names = (choice: Partial<Parameters<typeof choose>[1]>): string =>
    choose(all, { text: "", status: "", order: "name", down: false, ...choice }, earned)
      .map(({ id }) => id)
      .join(" ");
  assert.equal(names({}), "hs_2 hs_1 hs_3 hs_4");
  assert.equal(names({ down: true }), "hs_4 hs_3 hs_1 hs_2");
  assert.equal(names({ text: " CÄS" }), "hs_3");
  assert.equal(names({ status: "online" }), "hs_1 hs_4");
  assert.equal(names({ order: "earned", down: true }), "hs_1 hs_4 hs_2 hs_3");
  assert.equal(names({ order: "status" }), "hs_2 hs_3 hs_1 hs_4");
  assert.equal(names({ order: "uptime" }), "hs_1 hs_2 hs_3 hs_4");
});

test("files for spreadsheets hold texts, not formulas", () => {
  assert.equal(toCSV(["a", "b"], [["x", -1.5], ["=1+1", null], ['say "hi", you', true]]), 'a,b\r\nx,-1.5\r\n"\'=1+1",\r\n"say ""hi"", you",true\r\n');
  const [, line = ""] = hotspotsCSV([all[1] as Hotspot], new Map([["hs_2", 1.25]])).split("\r\n");
  assert.equal(line, `hs_2,"'=Anna",public,offline,,1,2,1,3,2026-11-15T10:00:00Z,1.25,credit`);
});

test("events name their hotspot", () => {
  const names = new Map([["hs_1", "Berta"]]);
  assert.equal(inWords({ id: 1, type: "hotspot.offline", hotspot_id: "hs_1", at: "" }, names), "Berta went offline");
  assert.equal(inWords({ id: 1, type: "rewards.settled", at: "" }, names), "Last month was settled");
  assert.equal(inWords({ id: 1, type: "hotspot.painted", hotspot_id: "hs_1", at: "" }, names), "Berta hotspot.painted");
});

test("a statement for a spreadsheet has names and credits", () => {
  const rows = [{ date: "2026-10-31", hotspot_id: "hs_1", served_minutes: 1439, expected_minutes: 1440, traffic_bytes: 7.5e10, performance_tier: "enhanced", availability: 0.999305, performance: 0.249826, utilization: 1 }];
  const text = statementCSV({ rows, unit: "credit" } as unknown as Statement, new Map([["hs_1", "Berta"]]));
  assert.equal(text.split("\r\n")[1], "2026-10-31,hs_1,Berta,1439,1440,75,enhanced,0.999305,0.249826,1,2.249131,credit,");
});
