// What staff work at: a page for each desk, and links between them.
import type { ComponentChildren } from "preact";
import { rewardsOn } from "../head";
import { t } from "../messages";
import { session } from "../session";
import type { Scope } from "../types";
import { OwnData } from "./account";
import { Overview } from "./desk";
import { NetworkIdentity, StartFacts } from "./identity";
import { Keys } from "./keys";
import { HomePrivacy } from "./privacy";
import { RewardsSwitch } from "./rewardsswitch";
import { StartView } from "./startview";
import { Verifications } from "./verifications";

const desks = [
  ["", t.staff.overview, "hotspots:verify"],
  ["/verifications", t.staff.verifications, "hotspots:verify"],
  ["/review", t.staff.review, "hotspots:verify"],
  ["/holds", t.staff.holds, "hotspots:verify"],
  ["/hotspots", t.staff.hotspots, "hotspots:verify"],
  ["/operators", t.staff.operators, "admin"],
  ["/months", t.staff.months, "admin"],
  ["/policy", t.staff.policy, "admin"],
  ["/audit", t.staff.audit, "admin"],
  ["/inventory", t.staff.inventory, "hotspots:verify"],
  ["/keys", t.keys.keys, "keys:manage"],
  ["/settings", t.staff.settings, "admin"],
] as const;

// Where rewards are off, these are reached by their address alone.
const rewardDesks: readonly string[] = ["/holds", "/months", "/policy"];

/** The frame of a page of staff's: where else to go, its title, and what the key lacks. */
export function Desk({ at, title, scope = "hotspots:verify", children }: { at: string; title: string; scope?: Scope; children: ComponentChildren }) {
  return (
    <section class="page">
      {session.may("hotspots:verify") && (
        <nav class="desks" aria-label={t.staff.pages}>
          <ul>
            {desks
              .filter(([path, , needs]) => session.may(needs) && (rewardsOn() || !rewardDesks.includes(path)))
              .map(([path, name]) => (
                <li key={path}>
                  <a href={`#/staff${path}`} aria-current={at === path ? "page" : undefined}>
                    {name}
                  </a>
                </li>
              ))}
          </ul>
        </nav>
      )}
      <h1>{title}</h1>
      {session.may(scope) ? children : <p class="note">{t.words.needsScope(scope)}</p>}
    </section>
  );
}

export function StaffPage() {
  return (
    <Desk at="" title={t.app.staff}>
      <Overview />
    </Desk>
  );
}

export function VerificationsPage() {
  return (
    <Desk at="/verifications" title={t.staff.verifications}>
      <Verifications />
    </Desk>
  );
}

/** What admins set for the whole network. */
export function StaffSettingsPage() {
  return (
    <Desk at="/settings" title={t.staff.settings} scope="admin">
      <NetworkIdentity />
      <StartView />
      <HomePrivacy />
      <RewardsSwitch />
      <StartFacts />
    </Desk>
  );
}

/** The keys of everyone for admin, of their own user for other staff. */
export function StaffKeysPage() {
  return (
    <Desk at="/keys" title={t.keys.keys} scope="keys:manage">
      <Keys />
      <OwnData />
    </Desk>
  );
}
