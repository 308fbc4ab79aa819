import "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ask } from "../src/api";
import { explain, lastDays } from "../src/days";
import { session } from "../src/session";
import type { Key } from "../src/types";

const who: Key = { id: "key_1", user_id: "usr_1", name: "", scopes: [], created_at: "", expires_at: null, last_used_at: null, revoked_at: null, origins: [], addresses: [], publishable: false, max_enrolments: 0, enrolments: 0, hotspots: [], may_register: false };

const asked: { path: string; key: string | null; body: string }[] = [];
let answers: (Response | Error)[] = [];

globalThis.fetch = (path, init) => {
  asked.push({ path: String(path), key: new Headers(init?.headers).get("Authorization"), body: String(init?.body ?? "") });
  const next = answers.shift() ?? new Error("nothing was to be asked");
  return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
};

function will(...next: (Response | Error)[]): void {
  asked.length = 0;
  answers = next;
}

const answer = (data: unknown, more = {}): Response => new Response(JSON.stringify({ data, ...more }), { headers: { ETag: '"v1"' } });
const refusal = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ error: { code: "some_code", message: "No.", details: [{ field: "name", message: "too short" }] } }), {
    status,
    headers: { "X-Request-Id": "req_1", ...headers },
  });
const soon = { "Retry-After": "0" };

test("an answer has its data, its page and its tag; the key goes in a header", async () => {
  session.begin("bcn_1", who);
  will(answer([1], { pagination: { page: 1, per_page: 20, total: 1, total_pages: 1 } }));
  const got = await ask<number[]>("/v1/x", { method: "POST", body: { a: 1 } });
  assert.deepEqual(got, { data: [1], etag: '"v1"', pagination: { page: 1, per_page: 20, total: 1, total_pages: 1 } });
  assert.deepEqual(asked, [{ path: "/v1/x", key: "Bearer bcn_1", body: '{"a":1}' }]);
});

test("only what can be done twice without harm is tried again", async () => {
  const tries = async (status: number, headers: Record<string, string>, options: Parameters<typeof ask>[1]): Promise<number> => {
    will(refusal(status, headers), answer(1));
    await ask("/v1/x", options).catch(() => undefined);
    return asked.length;
  };
  assert.equal(await tries(503, soon, {}), 2);
  assert.equal(await tries(503, {}, {}), 1); // not told when
  assert.equal(await tries(503, { "Retry-After": "31" }, {}), 1); // that is too long
  assert.equal(await tries(503, soon, { method: "POST" }), 1);
  assert.equal(await tries(503, soon, { method: "POST", headers: { "Idempotency-Key": "k" } }), 2);
  assert.equal(await tries(503, soon, { method: "PATCH", headers: { "If-Match": "v" } }), 2);
  assert.equal(await tries(429, soon, { method: "POST" }), 2);
  assert.equal(await tries(500, soon, {}), 1);
  assert.equal(await tries(409, soon, {}), 1);
  will(...Array.from({ length: 9 }, () => refusal(429, soon)));
  await assert.rejects(ask("/v1/x"), (e) => e instanceof ApiError && e.status === 429);
  assert.equal(asked.length, 4); // and not for ever
});

test("what went wrong is told with its faults and the id of the request", async () => {
  will(refusal(400));
  await assert.rejects(ask("/v1/x"), (e) => e instanceof ApiError && e.code === "some_code" && e.requestId === "req_1" && e.faults[0]?.field === "name");
  will(new Response("<html>", { status: 502 }));
  await assert.rejects(ask("/v1/x"), (e) => e instanceof ApiError && e.status === 502 && e.message.includes("502"));
  will(new TypeError("refused"));
  await assert.rejects(ask("/v1/x"), (e) => e instanceof ApiError && e.status === 0 && e.code === "unreachable");
});

test("a key that does not open ends its session, and no other", async () => {
  session.begin("bcn_2", who);
  will(refusal(401));
  await assert.rejects(ask("/v1/keys/self", { key: "bcn_typed" }), (e) => e instanceof ApiError);
  assert.equal(session.key, "bcn_2");
  will(refusal(401));
  await assert.rejects(ask("/v1/x"), (e) => e instanceof ApiError);
  assert.equal(session.key, "");
});

test("a day that is over is asked for once, by each who looks", async () => {
  const signal = new AbortController().signal;
  session.begin("bcn_3", who);
  will(answer({ date: "2026-11-14", open: false }), answer({ date: "2026-11-15", open: true }), answer({ date: "2026-11-15", open: false }));
  for (const date of ["2026-11-14", "2026-11-14", "2026-11-15", "2026-11-15", "2026-11-15"]) assert.equal((await explain("hs_1", date, signal)).date, date);
  assert.equal(asked.length, 3);
  will(answer({ date: "2026-11-14", open: false }));
  await explain("hs_2", "2026-11-14", signal); // another hotspot's
  assert.equal(asked.length, 1);
  session.begin("bcn_4", { ...who, id: "key_2" });
  will(refusal(403));
  await assert.rejects(explain("hs_1", "2026-11-14", signal), (e) => e instanceof ApiError && e.status === 403);
});

test("days follow each other over ends of months and changes of clocks", () => {
  assert.deepEqual(lastDays("2028-03-01", 3, "2028-01-01"), ["2028-03-01", "2028-02-29", "2028-02-28"]);
  assert.deepEqual(lastDays("2026-11-02", 3, "2026-10-31"), ["2026-11-02", "2026-11-01", "2026-10-31"]);
  assert.deepEqual(lastDays("2027-01-01", 5, "2026-12-31"), ["2027-01-01", "2026-12-31"]);
});
