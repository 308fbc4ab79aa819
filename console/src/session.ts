// Who looks at the console. The key is kept for as long as the tab is open, and
// never where other tabs, or the next user of the machine, would find it.
import { Cell } from "./state";
import type { Key, Scope } from "./types";

const place = "beacon-key";

class Session {
  /** The key's own record; null without a key, undefined while it is not known yet. */
  readonly who = new Cell<Key | null | undefined>(undefined);
  /** Why the last session ended, for the page on which to sign in. */
  readonly notice = new Cell("");
  #key = "";

  get key(): string {
    return this.#key;
  }

  /** Takes up what an earlier page of this tab left, once it is known to be good. */
  remembered(): string {
    try {
      return sessionStorage.getItem(place) ?? "";
    } catch {
      return ""; // a browser that keeps nothing
    }
  }

  begin(key: string, who: Key): void {
    this.#key = key;
    try {
      sessionStorage.setItem(place, key);
    } catch {
      // then it is kept in memory alone
    }
    this.notice.value = "";
    this.who.value = who;
  }

  end(notice = ""): void {
    this.#key = "";
    try {
      sessionStorage.removeItem(place);
    } catch {
      // nothing was kept
    }
    this.notice.value = notice;
    this.who.value = null;
  }

  may(scope: Scope): boolean {
    const scopes = this.who.value?.scopes ?? [];
    return scopes.includes(scope) || scopes.includes("admin");
  }
}

export const session = new Session();

/** What opens the preview; the server writes it into the page. */
export function demoKey(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="beacon-demo-key"]')?.content ?? "";
}
