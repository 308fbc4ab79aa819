import "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import { toCSV } from "../src/csv";
import { attention, choose, dayBefore, headline, hotspotsCSV, inWords, leastPaid, sharedPart } from "../src/home";
import { ownPage } from "../src/mine";
import { statementCSV } from "../src/statement";
import type { Explanation, Hold, Hotspot, Rewards, Statement, Status } from "../src/types";

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
  assert.equal(headline(2, 4, 664.8421), "2 of 4 online · 664.84 credits this month");
  assert.equal(headline(2, 4, undefined), "2 of 4 online");
});

test("what needs attention is listed, the worst first", () => {
  const hold = { hotspot_id: "hs_1", status: "active", reason: "Moved.", until: "2026-12-01T00:00:00Z" } as Hold;
  const fell = [...all, hotspot("hs_5", "Emil", "online", { fell: "2026-11-14T00:00:00Z" }), hotspot("hs_6", "Fritz", "online", { fell: "2026-10-14T00:00:00Z" })];
  const told = attention(fell, [hold, { ...hold, status: "released" }, { ...hold, hotspot_id: null }], now);
  assert.deepEqual(
    told.map(({ name, what }) => `${name}: ${what}`),
    ["Berta: rewards held", "All your hotspots: rewards held", "=Anna: offline", "Emil: counters fell", "Berta: low uptime", "Cäsar: pending"],
  );
  assert.ok(told[5]?.why.includes("verify its location"));
  assert.deepEqual(attention([hotspot("hs_1", "Berta", "online")], [], now), []);
});

test("equal causes are one", () => {
  const silent = (id: string, seen: string | null): Hotspot => {
    const one = hotspot(id, `Hotspot ${id}`, "offline");
    return { ...one, metrics: { ...one.metrics, last_seen_at: seen } };
  };
  const together = ["10:01", "10:03", "10:02"].map((at, i) => silent(`hs_${i}`, `2026-11-15T${at}:00Z`));
  const others = [silent("hs_8", "2026-11-15T09:00:00Z"), silent("hs_6", null), silent("hs_7", null)];
  const pending = [hotspot("hs_a", "A", "pending"), hotspot("hs_b", "B", "pending"), hotspot("hs_c", "C", "pending", { reason: "no radio" })];
  const told = attention([...others, ...together, ...pending, hotspot("hs_d", "D", "online", { uptime: 0.7 }), hotspot("hs_e", "E", "online", { uptime: 0.8 })], [], now);
  assert.deepEqual(
    told.map(({ name, what, among }) => [name, what, among.map(({ id }) => id).join(" ")].join(": ").replace(/since .* 10:01.*: hs/, "since 10:01: hs")),
    [
      "3 hotspots: offline since 10:01: hs_1 hs_2 hs_0",
      "2 hotspots: offline: hs_6 hs_7",
      "Hotspot hs_8: offline: ",
      "2 hotspots: low uptime: hs_d hs_e",
      "2 hotspots: pending: hs_a hs_b",
      "C: pending: ",
    ],
  );
  assert.ok(told[3]?.why.includes("70% or more, but less than 90%"));
});

test("who earns little because others cover it is told so", () => {
  const id = "hs_01kb3gzk00e9x8q6s5t4v3w2y1"; // of 2025-11-28
  const paid = (hotspot_id: string, earned: number, availability_score = 1) => ({ hotspot_id, name: hotspot_id.slice(-1), earned, availability_score }) as Rewards["hotspots"][number];
  const rewards = [paid(id, 3), ...[5, 4, 6, 8, 7].map((n) => paid(`${id.slice(0, -1)}${n}`, n)), paid(`${id.slice(0, -1)}9`, 0, 0.5)];
  assert.deepEqual(leastPaid(rewards, "2026-11-14").map(({ name }) => name).join(" "), "1 4 5 6 7");
  assert.deepEqual(leastPaid(rewards, "2025-11-27"), []); // none was there before
  const lost = (reason: string, total: number) => ({ reason, total }) as Explanation["losses"][number];
  const day = (shared: number): Pick<Explanation, "losses" | "potential"> => ({ potential: { total: 2 } as Explanation["potential"], losses: [lost("offline", 0.5), lost("shared", shared)] });
  assert.equal(sharedPart(day(1.2)), 0.6);
  assert.equal(sharedPart({ potential: { total: 0 } as Explanation["potential"], losses: [] }), 0);
  const told = attention([], [], now, [{ id, name: "Bar", part: 0.6 }, { id, name: "Café", part: 0.49 }]);
  assert.deepEqual(told.map(({ name, what }) => `${name}: ${what}`), ["Bar: earns little because others cover it"]);
  assert.ok(told[0]?.why.includes("60% of what it could have earned"));
  assert.equal(dayBefore("2026-11-01"), "2026-10-31");
});

test("of very many, the server chooses, orders and pages", () => {
  assert.equal(ownPage({ text: " Café ", status: "offline", order: "uptime", down: true }, 3), "/v1/users/me/hotspots?per_page=100&page=3&order=-uptime&q=Caf%C3%A9&status=offline");
  assert.equal(ownPage({ text: "", status: "", order: "name", down: false }, 1, 20), "/v1/users/me/hotspots?per_page=20&page=1&order=name");
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
