import "./page";
import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, localeOf } from "../src/messages/language";

test("the language is what was chosen here, else the browser's, else the network's", () => {
  for (const [chosen, asked, network, want] of [
    [null, ["es-MX", "en"], null, "es"],
    [null, ["en-GB", "es"], "es", "en"],
    [null, ["de-DE", "ES-419"], "en", "es"],
    [null, ["de-DE", "fr"], "es", "es"],
    [null, ["de-DE"], "de", "en"],
    [null, [], null, "en"],
    ["es", ["en-US"], "en", "es"],
    ["en", ["es"], "es", "en"],
    ["tlh", ["es"], null, "es"],
    ["toString", ["constructor"], null, "en"],
  ] as [string | null, string[], string | null, string][])
    assert.equal(choose(chosen, asked, network), want, `${chosen} ${asked.join()} ${network}`);
});

test("numbers are written as in the browser's own country", () => {
  assert.equal(localeOf("es", ["en", "es-MX"]), "es-MX");
  assert.equal(localeOf("en", ["es-MX"]), "en");
});
