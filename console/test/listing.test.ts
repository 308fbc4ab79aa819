import assert from "node:assert/strict";
import { test } from "node:test";
import { pageLeft, pageOf } from "../src/listing";

test("the address of a page names what is wanted, whatever is searched for", () => {
  assert.equal(pageOf("/v1/hotspots", { page: 1, text: "" }), "/v1/hotspots?per_page=20&page=1");
  assert.equal(pageOf("/v1/hotspots", { page: 3, text: "  " }), "/v1/hotspots?per_page=20&page=3");
  const asked = new URL(pageOf("/v1/hotspots", { page: 2, text: " a&b=c%20#é+ ", filter: { status: "pending", verified: "false" } }), "http://localhost");
  assert.equal(asked.pathname, "/v1/hotspots");
  assert.deepEqual(Object.fromEntries(asked.searchParams), { status: "pending", verified: "false", per_page: "20", page: "2", q: "a&b=c%20#é+" });
});

test("who looks at a page that is gone is brought to the last", () => {
  for (const [page, pages, want] of [
    [1, 0, null],
    [1, 1, null],
    [2, 2, null],
    [2, 1, 1],
    [9, 3, 3],
    [2, 0, 1],
  ] as const)
    assert.equal(pageLeft(page, pages), want);
});
