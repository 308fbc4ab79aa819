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
    [format.gigabytes(0.0004), "0.0004 GB"],
    [format.gigabytes(12.345), "12.3 GB"],
    [format.gigabytes(1234.5), "1,235 GB"],
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

test("times are those of whoever looks, and say so; months are the server's", () => {
  assert.equal(format.time("2026-11-15T12:34:56.789Z").replace(/\u202f/g, " "), "Nov 15, 2026, 12:34 PM UTC");
  assert.equal(format.time(null), "never");
  assert.equal(format.month("2026-03"), "March 2026");
});

test("an id is cut in its middle, if it is long", () => {
  assert.equal(format.shortId("hs_01kb3gzk00e9x8q6s5t4v3w2y1"), "hs_0…v3w2y1");
  assert.equal(format.shortId("hs_01234567890"), "hs_01234567890");
});
