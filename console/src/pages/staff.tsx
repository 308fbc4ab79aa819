// What staff work at: a page for each desk, and links between them.
import type { ComponentChildren } from "preact";
import { rewardsOn } from "../head";
import { t } from "../messages";
import { Lacks } from "../parts/lacks";
import type { Permission } from "../people";
import { session } from "../session";
import { OwnData } from "./account";
import { Overview } from "./desk";
import { NetworkIdentity, StartFacts } from "./identity";
import { Keys } from "./keys";
import { HomePrivacy } from "./privacy";
import { RewardsSwitch } from "./rewardsswitch";
import { StartView } from "./startview";
import { Verifications } from "./verifications";

const desks = [
  ["", t.staff.overview, "overview"],
  ["/verifications", t.staff.verifications, "visits"],
  ["/review", t.staff.review, "review"],
  ["/holds", t.staff.holds, "hold_list"],
  ["/hotspots", t.staff.hotspots, "all_hotspots"],
  ["/operators", t.staff.operators, "operators"],
  ["/people", t.staff.people, "people"],
  ["/months", t.staff.months, "books"],
  ["/policy", t.staff.policy, "policy_trials"],
  ["/audit", t.staff.audit, "audit"],
  ["/inventory", t.staff.inventory, "all_hotspots"],
  ["/keys", t.keys.keys, "keys"],
  ["/settings", t.staff.settings, "settings"],
] as const;

// Where rewards are off, these are reached by their address alone.
const rewardDesks: readonly string[] = ["/holds", "/months", "/policy"];

/** The frame of a page of staff's: where else to go, its title, and what whoever looks lacks. */
export function Desk({ at, title, needs = "overview", children }: { at: string; title: string; needs?: Permission; children: ComponentChildren }) {
  return (
    <section class="page">
      {session.may("overview") && (
        <nav class="desks" aria-label={t.staff.pages}>
          <ul>
            {desks
              .filter(([path, , asks]) => session.may(asks) && (rewardsOn() || !rewardDesks.includes(path)))
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
      {session.may(needs) ? children : <Lacks of={needs} />}
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
    <Desk at="/verifications" title={t.staff.verifications} needs="visits">
      <Verifications />
    </Desk>
  );
}

/** What admins set for the whole network. */
export function StaffSettingsPage() {
  return (
    <Desk at="/settings" title={t.staff.settings} needs="settings">
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
    <Desk at="/keys" title={t.keys.keys} needs="keys">
      <Keys />
      {session.may("leaving") && session.hasAccount && <OwnData />}
    </Desk>
  );
}
