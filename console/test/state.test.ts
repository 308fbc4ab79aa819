import assert from "node:assert/strict";
import { test } from "node:test";
import { Cell } from "../src/state";

test("a cell tells of every change, of nothing else, and only those who still watch", () => {
  const cell = new Cell(1);
  const first: number[] = [];
  const second: number[] = [];
  const stop = cell.watch((value) => first.push(value));
  cell.watch((value) => second.push(value));
  cell.value = 1;
  cell.value = 2;
  stop();
  cell.value = NaN;
  cell.value = NaN;
  cell.value = 3;
  assert.deepEqual(first, [2]);
  assert.deepEqual(second, [2, NaN, 3]);
});

test("who stops, or begins, while others are told upsets nobody", () => {
  const cell = new Cell("a");
  const heard: string[] = [];
  const stop = cell.watch(() => {
    stop();
    cell.watch((value) => heard.push(`late ${value}`));
  });
  cell.watch((value) => heard.push(value));
  cell.value = "b";
  assert.deepEqual(heard, ["b"]);
  cell.value = "c";
  assert.deepEqual(heard, ["b", "c", "late c"]);
});
