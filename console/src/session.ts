// Who looks at the console: the holder of a key, or a person. A key is kept for as long as the
// tab is open, and never where other tabs, or the next user of the machine, would find it. A
// browser that stays signed in, and that of a person, has a cookie in its place, which no
// script can read.
import { rewardsOn } from "./head";
import type { Permission, Person } from "./people";
import { assignedTo, may, mayFor, type Who } from "./permissions";
import { Cell } from "./state";
import { keep, kept } from "./storage";
import type { Key } from "./types";

const place = "beacon-key";
const stays = "beacon-stays"; // says that there is a cookie, and whose; without it, nobody has to ask
const chosen = "beacon-account"; // that a person acts for

const ofKey = (key: Key): Who => ({ id: key.id, name: key.name, user_id: key.user_id, key });

/** The account that a person acts for: that of this tab, else what was chosen last, else the oldest. */
function accountOf({ memberships }: Person): string {
  const wanted = [kept(chosen, "sessionStorage"), kept(chosen)].find((account) => memberships.some((seat) => seat.account === account));
  return wanted ?? [...memberships].sort((a, b) => (a.since < b.since ? -1 : 1))[0]?.account ?? "";
}

class Session {
  /** Who it is; null for nobody, undefined while it is not known yet. */
  readonly who = new Cell<Who | null | undefined>(undefined);
  /** Why the last session ended, for the page on which to sign in. */
  readonly notice = new Cell("");
  /** How often another account was chosen: pages are drawn anew, since all that they show is another's. */
  readonly turns = new Cell(0);
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
    this.#is(ofKey(who));
  }

  /** Whose cookie this browser has in place of a key; null for none. */
  get cookie(): string | null {
    return kept(stays);
  }

  /** Whether this browser has a cookie in place of a key. */
  get stays(): boolean {
    return this.cookie !== null;
  }

  /** Begins with the cookie that the server has set, or that was there. */
  stay(who: Key): void {
    this.#forget();
    keep(stays, who.id);
    this.#is(ofKey(who));
  }

  /** Begins with the cookie of a person, or takes in what became of them. */
  enter(person: Person): void {
    const before = this.who.value;
    if (before?.person?.id !== person.id) {
      this.#forget();
      keep(stays, person.id);
    }
    const next: Who = { id: person.id, name: person.name, user_id: accountOf(person), person };
    if (JSON.stringify(next) !== JSON.stringify(before)) this.#is(next);
  }

  /** From now on, a person acts for another of their accounts: in this tab, and in those that are opened later. */
  act(account: string): void {
    const person = this.who.value?.person;
    if (!person) return;
    keep(chosen, account, "sessionStorage");
    keep(chosen, account);
    this.#is({ id: person.id, name: person.name, user_id: account, person });
    this.turns.value++;
  }

  #is(who: Who): void {
    this.notice.value = "";
    this.who.value = who;
  }

  #forget(): void {
    this.#key = "";
    keep(place, null, "sessionStorage");
    keep(stays, null);
    keep(chosen, null, "sessionStorage");
  }

  end(notice = ""): void {
    this.#forget();
    this.notice.value = notice;
    this.who.value = null;
  }

  /** The person who is signed in, if it is one. */
  get person(): Person | undefined {
    return this.who.value?.person;
  }

  /** Whether there is an account to act for: some people have posts alone. */
  get hasAccount(): boolean {
    return !!this.who.value?.user_id;
  }

  /** The hotspots that are assigned to an installer; undefined for all others. */
  get assigned(): string[] | undefined {
    return this.who.value ? assignedTo(this.who.value) : undefined;
  }

  /** Whether pages tell whoever looks what hotspots earn. */
  get paid(): boolean {
    return rewardsOn() && this.hasAccount && this.mayFor("rewards", this.who.value?.user_id);
  }

  may(permission: Permission): boolean {
    return !!this.who.value && may(this.who.value, permission);
  }

  /** Whether they may do so with what belongs to an account, and of installers, with this hotspot. */
  mayFor(permission: Permission, account: string | null | undefined, hotspot?: string): boolean {
    return !!this.who.value && mayFor(this.who.value, permission, account, hotspot);
  }
}

export const session = new Session();
