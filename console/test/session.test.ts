import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./page";
import type { Key, Scope } from "../src/types";

const holder = (...scopes: Scope[]): Key => ({
  id: "key_1",
  user_id: "usr_1",
  name: "",
  scopes,
  created_at: "",
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  origins: [],
  addresses: [],
  publishable: false,
  max_enrolments: 0,
  enrolments: 0,
  hotspots: [],
  may_register: false,
});

test("a key is kept for the tab, and forgotten at the end", async () => {
  const { session } = await import("../src/session");
  assert.equal(session.who.value, undefined); // not known yet
  assert.equal(session.remembered(), "");
  session.end();
  assert.equal(session.who.value, null);
  session.begin("bcn_1", holder("rewards:read"));
  assert.equal(session.key, "bcn_1");
  assert.equal(session.remembered(), "bcn_1");
  assert.equal(session.who.value?.id, "key_1");
  session.end("It does not open any more.");
  assert.equal(session.key, "");
  assert.equal(session.remembered(), "");
  assert.equal(session.notice.value, "It does not open any more.");
  session.begin("bcn_2", holder());
  assert.equal(session.notice.value, "");
});

test("a browser that keeps nothing still has a session", async () => {
  const { session } = await import("../src/session");
  page.storageFails = true;
  session.begin("bcn_3", holder("admin"));
  assert.equal(session.key, "bcn_3");
  assert.equal(session.remembered(), "");
  session.end();
  assert.equal(session.key, "");
  page.storageFails = false;
});

test("a key may what its scopes say, and an admin's everything", async () => {
  const { session } = await import("../src/session");
  session.begin("bcn_4", holder("hotspots:write"));
  assert.ok(session.may("hotspots"));
  assert.ok(!session.may("visits"));
  assert.ok(!session.may("settings"));
  session.begin("bcn_5", holder("admin"));
  assert.ok(session.may("visits"));
  session.end();
  assert.ok(!session.may("hotspots"));
});

test("a browser that stays signed in keeps no key", async () => {
  const { session } = await import("../src/session");
  session.begin("bcn_6", holder());
  assert.ok(!session.stays);
  session.stay(holder("admin"));
  assert.ok(session.stays);
  assert.equal(session.key, "");
  assert.equal(session.remembered(), "");
  assert.ok(![...page.stored.values(), ...page.lasting.values()].some((value) => value.includes("bcn_")));
  assert.ok(session.may("visits"));
  session.end();
  assert.ok(!session.stays);
  page.storageFails = true;
  session.stay(holder("admin"));
  assert.ok(!session.stays && session.who.value);
  session.end();
  page.storageFails = false;
});
