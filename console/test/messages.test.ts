import "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords } from "../src/faults";
import { en } from "../src/messages/en";
import { es } from "../src/messages/es";

type Message = string | ((...values: never[]) => unknown);

/** Every message by its name, such as "app.map". */
function flat(group: object, name = ""): Map<string, Message> {
  const all = new Map<string, Message>();
  for (const [key, value] of Object.entries(group)) {
    const path = name ? `${name}.${key}` : key;
    if (typeof value === "object") for (const [sub, message] of flat(value as object, path)) all.set(sub, message);
    else all.set(path, value as Message);
  }
  return all;
}

// What the server says is told in other languages only.
const told = /^(errors\.by(Code|Text)|day\.losses)\./;
const english = flat(en);
const spanish = new Map([...flat(es)].filter(([name]) => !told.test(name)));

test("Spanish has every message, and no other", () => {
  assert.deepEqual([...spanish.keys()].sort(), [...english.keys()].sort());
  assert.ok(english.size > 100);
});

test("each message has a text", () => {
  for (const [name, message] of [...english, ...spanish]) assert.ok(typeof message === "function" || message.trim() !== "", name);
});

/** The names of the values of a message, and where it says them. */
function values(message: Message): { names: string[]; body: string } {
  const [, list = "", body = ""] = /^\(?([^)=]*)\)?\s*=>([\s\S]*)$/.exec(String(message)) ?? [];
  return { names: list.split(",").map((name) => name.trim()).filter(Boolean), body };
}

test("what the server often says is told in Spanish", () => {
  for (const [said, want] of [
    ["is required", "es un dato obligatorio"],
    ["device.ssid is required", "device.ssid es un dato obligatorio"],
    ["must be 3 to 50 characters", "debe tener de 3 a 50 caracteres"],
    ["must be 10 to 500", "debe estar entre 10 y 500"],
    ["5 fields are not valid", "5 campos no son válidos"],
    ["An extension needs a second person", "An extension needs a second person"],
  ] as const) {
    assert.equal(inWords(said, es.errors.byText), want);
    assert.equal(inWords(said, en.errors.byText), said);
  }
});

test("a message says all of its values, in both languages", () => {
  for (const [name, message] of english) {
    if (typeof message !== "function") continue;
    const { names, body } = values(message);
    const other = values(spanish.get(name) ?? "");
    assert.deepEqual(other.names, names, name);
    for (const value of names) {
      const says = new RegExp(`\\b${value}\\b`);
      assert.ok(says.test(body) && says.test(other.body), `${name} does not say ${value}`);
    }
  }
});

test("one is not several", () => {
  assert.equal(en.card.clients("8.9 GB", 1, "1"), "8.9 GB, 1 client");
  assert.equal(en.card.clients("0 MB", 0, "0"), "0 MB, 0 clients");
  assert.equal(es.card.clients("8.9 GB", 1, "1"), "8.9 GB, 1 cliente");
});
