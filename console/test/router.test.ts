import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "./page";

page.hash = "#/hotspots/hs_1/days"; // what the address says when the page is opened

test("the address says which page is shown", async () => {
  const { go, route } = await import("../src/router");
  assert.deepEqual(route.value, { page: "hotspots", id: "hs_1", part: "days" });
  const seen: string[] = [];
  const stop = route.watch(({ page: name, id, part }) => seen.push(`${name}|${id}|${part}`));
  for (const path of ["/", "", "/map/hs_2", "/staff", "/hotspots/hs_%C3%A9/more", "/100%", "rewards"]) go(path);
  stop();
  go("/sign-in");
  assert.deepEqual(seen, ["||", "||", "|hs_2|", "staff||", "hotspots|hs_é|more", "100%||", "rewards||"]);
  assert.deepEqual(route.value, { page: "sign-in", id: "", part: "" });
});
