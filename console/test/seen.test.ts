import assert from "node:assert/strict";
import { test } from "node:test";
import { whenSeen } from "../src/seen";

class Page extends EventTarget {
  prerendering = false;
  visibilityState: DocumentVisibilityState = "visible";
  become(name: string, change: Partial<Page>): void {
    Object.assign(this, change);
    this.dispatchEvent(new Event(name));
  }
}

test("a page that is seen is told at once, and once", () => {
  const page = new Page();
  let times = 0;
  whenSeen(() => times++, page);
  assert.equal(times, 1);
  page.become("visibilitychange", {});
  assert.equal(times, 1);
});

test("a page that the browser opened ahead waits until somebody goes to it", () => {
  const page = new Page();
  Object.assign(page, { prerendering: true, visibilityState: "hidden" });
  let times = 0;
  whenSeen(() => times++, page);
  page.become("visibilitychange", { visibilityState: "visible" }); // it says so, and is not there yet
  assert.equal(times, 0);
  page.become("prerenderingchange", { prerendering: false });
  page.become("visibilitychange", {});
  assert.equal(times, 1);
});

test("a page in a tab behind others waits, and forgets when it is left", () => {
  const page = new Page();
  page.visibilityState = "hidden";
  let times = 0;
  const forget = whenSeen(() => times++, page);
  assert.equal(times, 0);
  forget();
  page.become("visibilitychange", { visibilityState: "visible" });
  assert.equal(times, 0);
});
