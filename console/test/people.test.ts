import { page } from "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ask } from "../src/api";
import { asking } from "../src/fresh";
import { deviceName, toBytes, toText } from "../src/passkeys";
import type { Membership, Person, Post, Role } from "../src/people";
import { mayGrant, rolesToGive } from "../src/permissions";
import { session } from "../src/session";

const seat = (account: string, role: Role, since = "2026-01-01T00:00:00Z", hotspots: string[] = []): Membership => ({ account, account_name: "", role, hotspots, since });
const person = (memberships: Membership[], posts: Post[] = [], id = "per_1"): Person => ({
  ...{ id, name: "Ada", mail: "", mail_confirmed: true, language: "", created_at: "", suspended_at: null, frozen_until: null, fresh_until: null },
  ...{ posts, memberships, doors: { passkeys: 1, codes_left: 10, oidc: false } },
});

test("a person may what their role and posts say", () => {
  session.enter(person([seat("usr_1", "manager")]));
  assert.ok(session.may("hotspots") && session.mayFor("hotspots", "usr_1") && !session.mayFor("hotspots", "usr_2"));
  assert.ok(!session.may("leaving") && !session.may("overview") && !session.may("visits"));
  session.enter(person([seat("usr_1", "viewer")], ["verifier"]));
  assert.ok(!session.may("hotspots") && session.paid && session.mayFor("visits", "usr_2") && !session.may("settings"));
  session.enter(person([], ["treasurer"]));
  assert.ok(!session.hasAccount && !session.paid && session.mayFor("rewards", "usr_2"));
  session.end();
  assert.ok(!session.may("overview"));
});

test("an installer may link the devices of assigned hotspots alone", () => {
  session.enter(person([seat("usr_1", "installer", undefined, ["hs_1"])]));
  assert.deepEqual(session.assigned, ["hs_1"]);
  assert.ok(session.mayFor("devices", "usr_1", "hs_1"));
  assert.ok(!session.mayFor("devices", "usr_1", "hs_2") && !session.mayFor("devices", "usr_1") && !session.mayFor("devices", "usr_2", "hs_1"));
  assert.ok(!session.mayFor("hotspots", "usr_1", "hs_1"));
  session.end();
});

test("a person acts for an account of theirs: that of the tab, the last one, or the oldest", () => {
  const several = person([seat("usr_2", "viewer", "2026-02-01T00:00:00Z"), seat("usr_1", "owner")]);
  session.enter(several);
  assert.equal(session.who.value?.user_id, "usr_1");
  session.act("usr_2");
  assert.equal(session.who.value?.user_id, "usr_2");
  assert.ok(!session.may("hotspots"));
  session.enter({ ...several, name: "Ada L." }); // what became of them
  assert.equal(session.who.value?.user_id, "usr_2");
  assert.equal(session.who.value?.name, "Ada L.");
  page.stored.clear(); // another tab
  session.enter({ ...several });
  assert.equal(session.who.value?.user_id, "usr_2");
  session.enter(person([seat("usr_3", "owner")], [], "per_2")); // another person
  assert.equal(session.who.value?.user_id, "usr_3");
  assert.equal(session.cookie, "per_2");
  session.end();
  assert.equal(session.cookie, null);
});

test("nobody gives more than they have", () => {
  const who = (role: Role, posts: Post[] = []) => ({ id: "per_1", name: "", user_id: "usr_1", person: person([seat("usr_1", role)], posts) });
  assert.deepEqual(rolesToGive(who("owner"), "usr_1"), ["owner", "manager", "installer", "viewer"]);
  assert.deepEqual(rolesToGive(who("manager"), "usr_1"), ["manager", "installer", "viewer"]);
  assert.deepEqual(rolesToGive(who("manager"), "usr_2"), []);
  assert.deepEqual(rolesToGive(who("viewer"), "usr_1"), []);
  assert.equal(rolesToGive(who("viewer", ["admin"]), "usr_2").length, 4);
  assert.ok(mayGrant(who("manager"), "hotspots:write") && !mayGrant(who("manager"), "keys:manage") && mayGrant(who("owner"), "keys:manage"));
  assert.ok(!mayGrant(who("viewer", ["admin"]), "admin") && mayGrant(who("viewer", ["admin", "verifier", "treasurer"]), "admin"));
});

test("requests of a person say for which account; a fresh sign-in is asked for once, and the request repeated", async () => {
  const asked: (string | null)[] = [];
  let refuse = true;
  globalThis.fetch = (_path, init) => {
    asked.push(new Headers(init?.headers).get("Beacon-Account"));
    if (!refuse) return Promise.resolve(new Response(JSON.stringify({ data: 1 })));
    return Promise.resolve(new Response(JSON.stringify({ error: { code: "forbidden", message: "fresh" } }), { status: 403, headers: { "Beacon-Sign-In": "fresh" } }));
  };
  session.enter(person([seat("usr_1", "owner")]));
  const stop = asking.watch((done) => {
    refuse = false;
    done?.(true);
  });
  assert.equal((await ask<number>("/v1/x", { method: "POST" })).data, 1);
  assert.deepEqual(asked, ["usr_1", "usr_1"]);
  stop();
  refuse = true;
  asking.watch((done) => done?.(false));
  await assert.rejects(ask("/v1/x"), (e) => e instanceof ApiError && e.status === 403);
  assert.equal(asked.length, 3);
  session.end();
});

test("bytes of passkeys as text, and back", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.deepEqual(toBytes(toText(bytes.buffer)), bytes);
  assert.equal(toText(Uint8Array.of(251, 255).buffer), "-_8");
  assert.deepEqual([...toBytes("-_8")], [251, 255]);
  assert.equal(deviceName("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)"), "iPhone");
  assert.equal(deviceName("Mozilla/5.0 (X11; Linux x86_64)"), "Linux");
});
