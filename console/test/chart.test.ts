import assert from "node:assert/strict";
import { test } from "node:test";
import { floorOf, isUnfinished, monthBefore, moved, parted } from "../src/chart";

test("the last value is drawn apart while its time is not over", () => {
  assert.deepEqual(parted([1, 2, 3, null], true, true), [
    [1, 2, null, null],
    [null, null, 3, null],
  ]);
  assert.deepEqual(parted([1, 2, 3], true, false), [
    [1, 2, null],
    [null, 2, 3],
  ]);
  assert.deepEqual(parted([1, 2], false, true), [
    [1, 2],
    [null, null],
  ]);
  assert.deepEqual(parted([null], true, true), [[null], [null]]);
  assert.equal(isUnfinished(3600, 3600, 7199), true);
  assert.equal(isUnfinished(3600, 3600, 7200), false);
  assert.equal(isUnfinished(undefined, 3600, 7200), false);
});

test("keys move among the values, and stop at both ends", () => {
  assert.equal(moved("ArrowLeft", 1, 5), 0);
  assert.equal(moved("ArrowLeft", 0, 5), 0);
  assert.equal(moved("ArrowUp", 4, 5), 4);
  assert.equal(moved("End", 0, 5), 4);
  assert.equal(moved("PageDown", 4, 5), 0);
  assert.equal(moved("Tab", 1, 5), null);
  assert.equal(moved("Home", 0, 0), null);
});

test("a year begins after the last month of another", () => {
  assert.equal(monthBefore("2026-01"), "2025-12");
  assert.equal(monthBefore("2026-11"), "2026-10");
});

test("the scale of shares begins where their differences can be seen, and below all of them", () => {
  assert.equal(floorOf([0.961, null, 0.97]), 0.95);
  assert.equal(floorOf([0.996, 0.999]), 0.99);
  assert.equal(floorOf([1, 1]), 0.99);
  assert.equal(floorOf([0.951, 0.99]), 0.9); // the lowest must have a bar
  assert.equal(floorOf([0.55, 0.9]), 0.5);
  assert.equal(floorOf([0.3, 0.9]), 0);
  assert.equal(floorOf([null]), 0);
});
