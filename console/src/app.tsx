import { Fragment, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api";
import { now } from "./clock";
import { connection } from "./events";
import * as format from "./format";
import { t } from "./messages";
import { language, languages, speak, type Language } from "./messages/language";
import { MapPage } from "./pages/map";
import { VisitsPage } from "./pages/visits";
import { Later } from "./parts/later";
import { MapHost } from "./parts/maphost";
import { HoldsPage } from "./pages/holds";
import { AuditPage } from "./pages/audit";
import { MonthsPage } from "./pages/months";
import { PolicyPage } from "./pages/policy";
import { OperatorsPage } from "./pages/operators";
import { AllHotspotsPage } from "./pages/allhotspots";
import { FirstKeyPage } from "./pages/firstkey";
import { HotspotPage } from "./pages/hotspot";
import { HotspotsPage } from "./pages/hotspots";
import { InventoryPage } from "./pages/inventory";
import { KeysPage } from "./pages/keys";
import { LinkPage } from "./pages/link";
import { MovePage } from "./pages/move";
import { ReviewPage } from "./pages/review";
import { ProveMailPage } from "./pages/provemail";
import { RegisterPage } from "./pages/register";
import { RewardsPage } from "./pages/rewards";
import { EnterPage } from "./pages/enter";
import { Freshen } from "./pages/freshen";
import { JoinPage } from "./pages/join";
import { MePage } from "./pages/me";
import { AccountPage } from "./pages/members";
import { OidcPage } from "./pages/oidc";
import { StaffPeoplePage } from "./pages/people";
import { SetUpPage } from "./pages/setup";
import { SignInPage } from "./pages/signin";
import { StaffKeysPage, StaffPage, StaffSettingsPage, VerificationsPage } from "./pages/staff";
import { isDemo, isPreview, isPublic, network } from "./head";
import { online } from "./online";
import { go, route, type Route } from "./router";
import type { Person } from "./people";
import { session } from "./session";
import { useCell } from "./state";
import { chosen as chosenTheme, type Theme } from "./theme";

interface Page {
  name: string; // as the title of the window has it
  onMap: boolean | ((route: Route) => boolean); // the map stays in sight
  needsKey: boolean;
  body: (route: Route) => ComponentChildren;
}

const pages: Record<string, Page> = {
  "": { name: t.app.map, onMap: true, needsKey: false, body: () => <MapPage /> },
  "sign-in": { name: t.app.signIn, onMap: false, needsKey: false, body: ({ id }) => (id ? <LinkPage key={id} token={id} /> : <SignInPage />) },
  enter: { name: t.app.signIn, onMap: false, needsKey: false, body: ({ id }) => <EnterPage key={id} token={id} /> },
  join: { name: t.app.join, onMap: false, needsKey: false, body: ({ id }) => <JoinPage key={id} token={id} /> },
  oidc: { name: t.app.signIn, onMap: false, needsKey: false, body: () => <OidcPage /> },
  welcome: { name: t.app.welcome, onMap: false, needsKey: true, body: ({ page, id }) => <SetUpPage page={page} id={id} /> },
  "set-up": { name: t.app.setUp, onMap: ({ id }) => id === "place", needsKey: true, body: ({ page, id }) => <SetUpPage page={page} id={id} /> },
  me: { name: t.app.me, onMap: false, needsKey: true, body: () => <MePage /> },
  mail: { name: t.me.mail, onMap: false, needsKey: true, body: ({ id }) => <ProveMailPage key={id} token={id} /> },
  account: { name: t.app.account, onMap: false, needsKey: true, body: () => <AccountPage /> },
  "first-key": { name: t.app.firstKey, onMap: false, needsKey: false, body: ({ id }) => <FirstKeyPage token={id} /> },
  hotspots: {
    name: t.app.myHotspots,
    onMap: false,
    needsKey: true,
    body: ({ id, part }) => (id ? <HotspotPage key={id} id={id} part={part} /> : <HotspotsPage />),
  },
  register: { name: t.app.register, onMap: true, needsKey: true, body: () => <RegisterPage /> },
  move: { name: t.move.panel, onMap: true, needsKey: true, body: ({ id }) => <MovePage key={id} id={id} /> },
  import: { name: t.app.import, onMap: false, needsKey: true, body: () => <Later load={() => import("./pages/import").then(({ ImportPage }) => ImportPage)} /> },
  rewards: { name: t.app.rewards, onMap: false, needsKey: true, body: () => <RewardsPage /> },
  keys: { name: t.app.keys, onMap: false, needsKey: true, body: () => <KeysPage /> },
  visits: { name: t.app.visits, onMap: true, needsKey: true, body: ({ id }) => <VisitsPage id={id} /> },
  staff: {
    name: t.app.staff,
    onMap: false,
    needsKey: true,
    body: (at) => (staffPages[at.id] ?? missing.body)(at),
  },
};

// By the second word of the address.
const staffPages: Record<string, Page["body"]> = {
  "": () => <StaffPage />,
  verifications: () => <VerificationsPage />,
  review: ({ query }) => <ReviewPage key={query.operator} operator={query.operator ?? ""} />,
  hotspots: ({ query }) => <AllHotspotsPage key={JSON.stringify(query)} query={query} />,
  holds: ({ query }) => <HoldsPage key={query.hotspot ?? query.operator} query={query} />,
  operators: ({ part }) => <OperatorsPage id={part} />,
  people: ({ part }) => <StaffPeoplePage id={part} />,
  months: () => <MonthsPage />,
  policy: () => <PolicyPage />,
  audit: ({ query }) => <AuditPage key={JSON.stringify(query)} query={query} />,
  inventory: ({ query }) => <InventoryPage query={query} />,
  keys: () => <StaffKeysPage />,
  settings: () => <StaffSettingsPage />,
};

const missing: Page = {
  name: t.app.notFound,
  onMap: false,
  needsKey: false,
  body: () => (
    <section class="page">
      <h1>{t.app.pageNotFound}</h1>
      <p>
        <a href="#/">{t.app.goToMap}</a>
      </p>
    </section>
  ),
};

export function App() {
  const at = useCell(route);
  const who = useCell(session.who);
  const turn = useCell(session.turns);
  const page = pages[at.page] ?? missing;
  const needsKey = page.needsKey || (at.page === "" && !isPublic() && !isPreview()); // nothing of a private network is for strangers
  const asks = needsKey && who === null; // for a key, in place of the page
  const onMap = (typeof page.onMap === "boolean" ? page.onMap : page.onMap(at)) && !asks;
  const shown = useRef(at);
  const called = useCell(network).name;
  // Another page begins at its top, also for those who read by ear or go by keyboard. It may then scroll to a part of it.
  useLayoutEffect(() => {
    if (!samePage(shown.current, at)) document.getElementById("main")?.scrollTo(0, 0);
  }, [at]);
  useEffect(() => {
    document.title = t.app.title(page.name, called);
    if (!samePage(shown.current, at)) document.getElementById("main")?.focus();
    shown.current = at;
  }, [page, at, called]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        {t.app.skip}
      </a>
      <Header at={at.page} />
      <Frozen />
      <main id="main" tabIndex={-1} class={onMap ? "on-map" : "off-map"}>
        <MapHost hidden={!onMap} />
        <Announcement />
        {who === undefined ? <Waiting /> : asks ? <SignInPage /> : <Fragment key={turn}>{page.body(at)}</Fragment>}
      </main>
      <Freshen />
    </>
  );
}

/** On the map, whatever it shows is one page. */
function samePage(last: Route, next: Route): boolean {
  return next.page === last.page && (last.page === "" || (next.id === last.id && next.part === last.part));
}

/** Says by ear that a session ended, and why; the pages show it. What is announced must have stood ready. */
function Announcement() {
  const ended = useCell(session.who) === null;
  const notice = useCell(session.notice);
  return (
    <p class="sr-only" role="status">
      {ended ? notice : ""}
    </p>
  );
}

/** While it is not known who looks. */
function Waiting() {
  const notice = useCell(session.notice);
  return (
    <p class="waiting" role="status">
      {notice || t.words.wait}
    </p>
  );
}

/** After a recovery some things wait, so that whoever stole a code can do no lasting harm. */
function Frozen() {
  const until = useCell(session.who)?.person?.frozen_until;
  if (!until || Date.parse(until) < now()) return null;
  return (
    <p class="banner" role="status">
      {t.me.frozen(format.time(until))}
    </p>
  );
}

function signOut(): void {
  const key = session.who.value?.key;
  if (session.stays) void ask("/console/session", { method: "DELETE" }).catch(() => (session.notice.value = t.app.notForgotten));
  session.end(key ? t.app.signedOut : t.app.signedOutPerson);
  document.getElementById("main")?.focus(); // the button is gone
}

// The address behind the # belongs to the pages, so the jump is made by hand.
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Header({ at }: { at: string }) {
  const self = useCell(network);
  const who = useCell(session.who);
  const link = (page: string, text: string) => (
    <li>
      <a href={`/#/${page}`} aria-current={at === page ? "page" : undefined}>
        {text}
      </a>
    </li>
  );
  return (
    <header class="bar">
      <a class="brand" href="/#/" aria-label={t.app.brand(self.name)} title={self.description}>
        {self.logo ? <img src={`/logo?${self.version}`} alt="" width="28" height="28" /> : <Mark />}
        <span>{self.name}</span>
      </a>
      <nav aria-label={t.app.pages}>
        <ul>
          {link("", t.app.map)}
          {who && session.hasAccount && link("hotspots", t.app.myHotspots)}
          {who && session.paid && link("rewards", t.app.rewards)}
          {who && session.may("overview") && link("staff", t.app.staff)}
          {who?.person ? session.hasAccount && link("account", t.app.account) : who && !session.may("overview") && session.may("keys") && link("keys", t.app.keys)}
          <li>
            <a href="/docs">{t.app.docs}</a>
          </li>
        </ul>
      </nav>
      <History />
      {who && <Live />}
      <ThemeSwitch />
      <LanguageSwitch />
      {who?.person && <Switcher person={who.person} account={who.user_id} />}
      {who ? (
        <div class="who">
          {who.person ? (
            <a class="name" href="#/me" aria-current={at === "me" ? "page" : undefined}>
              <span class="sr-only">{t.app.signedInAs}</span>
              {who.name || format.shortId(who.id)}
            </a>
          ) : (
            <span class="name" title={t.app.signedInWith(who.id, who.user_id)}>
              <span class="sr-only">{t.app.signedInAs}</span>
              {who.name || format.shortId(who.id)}
            </span>
          )}
          <button type="button" class="quiet" onClick={signOut}>
            {t.app.signOut}
          </button>
        </div>
      ) : (
        who === null && (
          <a class="button" href="/#/sign-in">
            {t.app.signIn}
          </a>
        )
      )}
    </header>
  );
}

/** Chooses for which of their accounts someone with several acts in this tab. */
function Switcher({ person, account }: { person: Person; account: string }) {
  if (person.memberships.length < 2) return null;
  const choose = (next: string): void => {
    session.act(next);
    if (route.value.id && route.value.page !== "staff") go(route.value.page ? "/hotspots" : "/"); // what is shown may be another account's
  };
  return (
    <select class="switcher" name="account" aria-label={t.app.accountInUse} value={account} onChange={(event) => choose(event.currentTarget.value)}>
      {person.memberships.map(({ account: id, account_name: name }) => (
        <option key={id} value={id}>
          {name || t.app.unnamed(format.shortId(id))}
        </option>
      ))}
    </select>
  );
}

const themes: Theme[] = ["system", "light", "dark"];
const themeMarks: Record<Theme, string> = { system: "◐", light: "☀", dark: "☾" };

/** Goes from one theme to the next. */
function ThemeSwitch() {
  const theme = useCell(chosenTheme);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  const text = t.app.theme(t.app.themes[theme], t.app.themes[next]);
  return (
    <button type="button" class="quiet theme" aria-label={text} title={text} onClick={() => (chosenTheme.value = next)}>
      <span aria-hidden="true">{themeMarks[theme]}</span>
    </button>
  );
}

/** Goes from one language to the next. Its name is in that language, for those who understand no other. */
function LanguageSwitch() {
  const codes = Object.keys(languages) as Language[];
  const next = codes[(codes.indexOf(language) + 1) % codes.length] ?? language;
  const code = next.toUpperCase();
  return (
    <button type="button" class="quiet language" lang={next} aria-label={`${code}: ${languages[next]}`} title={languages[next]} onClick={() => speak(next)}>
      {code}
    </button>
  );
}

function Live() {
  const state = useCell(connection);
  const offline = !useCell(online);
  return (
    <span class={state === "live" && !offline ? "live on" : "live"} role="status">
      {offline ? t.app.offline : t.app.connection[state]}
    </span>
  );
}

/** Says how far the history of a demo is written. Once it is, the page is loaded again: all figures are others. */
function History() {
  const [past, setPast] = useState({ days: 0, of: 0 });
  useEffect(() => {
    if (!isDemo()) return;
    let waited = false;
    const look = async (): Promise<void> => {
      const next = (await (await fetch("/history.json")).json()) as typeof past;
      setPast(next);
      if (next.days < next.of) {
        waited = true;
        timer = setTimeout(again, 500);
      } else if (waited) {
        location.reload();
      }
    };
    const again = (): void => void look().catch(() => (timer = setTimeout(again, 2000)));
    let timer = setTimeout(again);
    return () => clearTimeout(timer);
  }, []);
  return past.days < past.of ? (
    <span class="live" role="status">
      {t.app.history(past.days, past.of)} <progress value={past.days} max={past.of} aria-hidden="true" />
    </span>
  ) : null;
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <g fill="none" stroke="currentColor" stroke-width="2.8" stroke-linecap="round">
        <path d="M5 13a15.5 15.5 0 0 1 22 0" />
        <path d="M10 18a8.5 8.5 0 0 1 12 0" />
      </g>
      <circle cx="16" cy="24" r="2.8" fill="currentColor" />
    </svg>
  );
}
