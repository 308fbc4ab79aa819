import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, filterOf, isOlder, matching, outdated, values } from "../src/inventory";

const groups = [
  { model: "A", firmware: "X", agent: "1.0.0", count: 5 },
  { model: "A", firmware: "Y", agent: "0.9.0", count: 2 },
  { model: 'B "é" &#?', firmware: "X", agent: "1.0.0", count: 4 },
  { model: "", firmware: "", agent: "0.9.0", count: 1 },
];

test("a filter is in the address, whatever devices call themselves", () => {
  assert.equal(addressOf({}), "/staff/inventory");
  assert.equal(addressOf({ model: "" }), "/staff/inventory");
  for (const { count: _, ...filter } of groups) {
    const query = Object.fromEntries(new URLSearchParams(addressOf(filter).split("?")[1]));
    assert.deepEqual(filterOf({ ...query, at: "1,2,3" }), Object.fromEntries(Object.entries(filter).filter(([, value]) => value)));
    assert.ok(!addressOf(filter).includes("#"));
  }
});

test("a filter keeps the groups that match in all that it names", () => {
  assert.deepEqual(matching(groups, {}), groups);
  assert.deepEqual(matching(groups, { firmware: "X" }), [groups[0], groups[2]]);
  assert.deepEqual(matching(groups, { firmware: "X", model: "A" }), [groups[0]]);
  assert.deepEqual(matching(groups, { firmware: "Y", agent: "1.0.0" }), []);
});

test("values are counted over groups, the most frequent first", () => {
  assert.deepEqual(values(groups, "model"), [
    ["A", 7],
    ['B "é" &#?', 4],
  ]);
  assert.deepEqual(values(groups, "firmware"), [
    ["X", 9],
    ["Y", 2],
  ]);
  assert.deepEqual(values(groups, "agent"), [
    ["1.0.0", 9],
    ["0.9.0", 3],
  ]);
  assert.deepEqual(outdated(groups, "1.0.0"), [["0.9.0", 3]]);
  assert.deepEqual(outdated(groups, "0.9.0"), []);
});

test("versions are compared as numbers, and only where they are", () => {
  for (const [version, than] of [
    ["0.9.9", "1.0.0"],
    ["1.9.0", "1.10.0"],
    ["1", "1.0.1"],
    ["1.0.0", "2"],
  ] as const) {
    assert.ok(isOlder(version, than), `${version} < ${than}`);
    assert.ok(!isOlder(than, version), `${than} > ${version}`);
  }
  for (const version of ["1.0.0", "1.0", "1.0.0.1", "0.9-acme", "", "v0.9", "0.9.", "-1", "1e-3"]) assert.ok(!isOlder(version, "1.0.0"), version);
});
