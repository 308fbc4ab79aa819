// Who looks at the console. The key is kept for as long as the tab is open, and
// never where other tabs, or the next user of the machine, would find it. A browser
// that stays signed in has a cookie in its place, which no script can read.
import { rewardsOn } from "./head";
import { Cell } from "./state";
import { keep, kept } from "./storage";
import type { Key, Scope } from "./types";

const place = "beacon-key";
const stays = "beacon-stays"; // says that there is a cookie; without it, nobody has to ask

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
    return kept(place, "sessionStorage") ?? "";
  }

  begin(key: string, who: Key): void {
    this.#key = key;
    keep(place, key, "sessionStorage");
    this.notice.value = "";
    this.who.value = who;
  }

  /** Whether this browser has a cookie in place of a key. */
  get stays(): boolean {
    return kept(stays) !== null;
  }

  /** Begins with the cookie that the server has set, or that was there. */
  stay(who: Key): void {
    this.#forget();
    keep(stays, who.id);
    this.notice.value = "";
    this.who.value = who;
  }

  #forget(): void {
    this.#key = "";
    keep(place, null, "sessionStorage");
    keep(stays, null);
  }

  end(notice = ""): void {
    this.#forget();
    this.notice.value = notice;
    this.who.value = null;
  }

  /** Whether pages tell whoever looks what hotspots earn. */
  get paid(): boolean {
    return rewardsOn() && this.may("rewards:read");
  }

  may(scope: Scope): boolean {
    const scopes = this.who.value?.scopes ?? [];
    return scopes.includes(scope) || scopes.includes("admin");
  }
}

export const session = new Session();
