import "./page";
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { ask } from "../src/api";
import { now, today } from "../src/clock";

test("it is as late as the server says, and stays so while time passes", async () => {
  mock.timers.enable({ apis: ["Date"], now: Date.parse("2027-02-03T04:05:06Z") });
  assert.equal(today(), "2027-02-03"); // before anything was heard
  const tell = async (meta: unknown): Promise<void> => {
    globalThis.fetch = () => Promise.resolve(new Response(JSON.stringify({ data: 1, meta })));
    await ask("/v1/x");
  };
  await tell({ timestamp: "2026-11-15T23:59:00.000Z" });
  assert.equal(today(), "2026-11-15");
  mock.timers.tick(61_000);
  assert.equal(now(), Date.parse("2026-11-16T00:00:01Z"));
  for (const meta of [undefined, {}, { timestamp: "soon" }]) await tell(meta);
  assert.equal(today(), "2026-11-16"); // who says nothing of it changes nothing
});
