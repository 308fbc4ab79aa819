import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../src/format";

test("numbers are written in the language of the browser, as precise as makes sense", () => {
  for (const [got, want] of [
    [format.count(0), "0"],
    [format.count(1234567), "1,234,567"],
    [format.percent(0), "0%"],
    [format.percent(0.00012345), "0.012%"],
    [format.percent(0.0099), "0.99%"],
    [format.percent(0.01), "1%"],
    [format.percent(0.99954), "100%"],
    [format.percent(0.9994), "99.9%"],
    [format.credits(0), "0.00"],
    [format.credits(0.000001), "<0.01"],
    [format.exact(0), "0.000000"],
    [format.credits(1.006001), "1.01"],
    [format.exact(1.000001), "1.000001"],
    [format.credits(1234.5), "1,234.50"],
    [format.area(0.0078539), "7,854 m²"],
    [format.area(0), "0 km²"],
    [format.area(0.1), "0.1 km²"],
    [format.area(99.44), "99.4 km²"],
    [format.area(99.96), "100 km²"],
    [format.area(1234.56), "1,235 km²"],
    [format.traffic(0), "0 GB"],
    [format.traffic(0.0004), "<1 MB"],
    [format.traffic(0.00109), "1.1 MB"],
    [format.traffic(0.5678), "568 MB"],
    [format.traffic(12.345), "12.3 GB"],
    [format.traffic(999), "999 GB"],
    [format.traffic(1234.5), "1.23 TB"],
    [format.metres(999.4), "999 m"],
    [format.metres(1000), "1 km"],
    [format.metres(1949), "1.9 km"],
    [format.degrees(-73.98325), "-73.98325"],
    [format.minutes(0), "0 min"],
    [format.minutes(59), "59 min"],
    [format.minutes(60), "1 h"],
    [format.minutes(1440), "24 h"],
    [format.minutes(1439), "23 h 59 min"],
  ])
    assert.equal(got, want);
});

test("a column of Spanish numbers separates thousands in all of them", () => {
  const amount = format.number({ minimumFractionDigits: 2 }, "es");
  assert.deepEqual([1211.4, 45682.59].map((n) => amount.format(n)), ["1.211,40", "45.682,59"]);
});

test("times are those of whoever looks, and say so; months are the server's", () => {
  assert.equal(format.time("2026-11-15T12:34:56.789Z").replace(/\u202f/g, " "), "Nov 15, 2026, 12:34 PM UTC");
  assert.equal(format.time(null), "never");
  assert.equal(format.month("2026-03"), "March 2026");
  assert.equal(format.date("2026-11-05"), "Nov 5, 2026");
  assert.equal(format.date("2026-1"), "2026-1");
});

test("what was just now is told by how long ago it was", () => {
  const now = Date.UTC(2026, 10, 15, 12);
  const at = (seconds: number) => format.ago(new Date(now - seconds * 1000).toISOString(), now);
  assert.deepEqual([0, 20, 59, 60, 3599, 3600, 86_399, 86_400, 6.9 * 86_400].map(at), ["0 seconds ago", "20 seconds ago", "59 seconds ago", "1 minute ago", "59 minutes ago", "1 hour ago", "23 hours ago", "1 day ago", "6 days ago"]);
  assert.equal(at(-5), at(0)); // of a clock that is ahead
  for (const far of [-120, 7 * 86_400, 400 * 86_400]) assert.equal(at(far), format.time(new Date(now - far * 1000).toISOString()));
  assert.equal(format.ago(null, now), "never");
});

test("an axis of time names hours, and days where they begin", () => {
  const noon = Date.UTC(2026, 10, 15, 12) / 1000;
  assert.deepEqual([format.mark(noon, 43_200), format.mark(noon + 43_200, 43_200), format.mark(noon, 86_400)].map((text) => text.replace(/\u202f/g, " ")), ["12 PM", "Nov 16", "Nov 15"]);
});

test("what was never in service has no uptime", () => {
  for (const [status, fraction, want] of [
    ["pending", 0, "–"],
    ["pending", 0.5, "50%"],
    ["offline", 0, "0%"],
    ["online", 0.98, "98%"],
  ] as const)
    assert.equal(format.uptime(status, fraction), want);
});

test("a hotspot opens and closes by its own clock, in the words of its page", () => {
  const tango = "America/Argentina/Buenos_Aires";
  for (const [open, until, zone, want] of [
    [true, null, null, "Always open"],
    [true, null, "UTC", "Open now"],
    [false, null, "UTC", "Closed now"],
    [true, "2026-11-16T03:00:00.000Z", tango, "Open now, until 24:00 GMT-3"], // the end of Sunday there
    [true, "2026-11-16T04:30:00.000Z", tango, "Open now, until Monday, 01:30 GMT-3"],
    [false, "2026-11-16T03:00:00.000Z", tango, "Closed now, until Monday, 00:00 GMT-3"],
    [false, "2026-11-15T20:00:00.000Z", "UTC", "Closed now, until 20:00"],
    [false, "2026-11-21T08:00:00.000Z", "UTC", "Closed now, until Saturday, 08:00"],
    [false, "2026-11-22T08:00:00.000Z", "UTC", "Closed now, until November 22, 2026, 08:00"],
    [false, "2026-11-15T20:00:00.000Z", null, "Closed now, until 20:00"], // by the viewer's clock
    [false, "2026-11-15T20:00:00.000Z", "Not/AZone", "Closed now, until 20:00"],
  ] as const)
    assert.equal(format.opening(open, until, zone, Date.parse("2026-11-15T12:00:00Z")), want);
});

test("an id is cut in its middle, if it is long", () => {
  assert.equal(format.shortId("hs_01kb3gzk00e9x8q6s5t4v3w2y1"), "hs_0…v3w2y1");
  assert.equal(format.shortId("hs_01234567890"), "hs_01234567890");
});

test("traffic is in the unit that people would say", () => {
  const said = [0, 0.0042, 0.5, 1, 62, 999, 1400, 62_000, 3_100_000].map(format.traffic);
  assert.deepEqual(said, ["0 GB", "4.2 MB", "500 MB", "1 GB", "62 GB", "999 GB", "1.4 TB", "62 TB", "3.1 PB"]);
});
