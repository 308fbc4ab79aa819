import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask } from "./api";
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
import { RegisterPage } from "./pages/register";
import { RewardsPage } from "./pages/rewards";
import { SignInPage } from "./pages/signin";
import { StaffKeysPage, StaffPage, StaffSettingsPage, VerificationsPage } from "./pages/staff";
import { isDemo, isPreview, isPublic, network } from "./head";
import { online } from "./online";
import { route, type Route } from "./router";
import { session } from "./session";
import { useCell } from "./state";
import { chosen as chosenTheme, type Theme } from "./theme";

interface Page {
  name: string; // as the title of the window has it
  onMap: boolean; // the map stays in sight
  needsKey: boolean;
  body: (route: Route) => ComponentChildren;
}

const pages: Record<string, Page> = {
  "": { name: t.app.map, onMap: true, needsKey: false, body: () => <MapPage /> },
  "sign-in": { name: t.app.signIn, onMap: false, needsKey: false, body: ({ id }) => (id ? <LinkPage key={id} token={id} /> : <SignInPage />) },
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
  const page = pages[at.page] ?? missing;
  const needsKey = page.needsKey || (at.page === "" && !isPublic() && !isPreview()); // nothing of a private network is for strangers
  const asks = needsKey && who === null; // for a key, in place of the page
  const onMap = page.onMap && !asks;
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
      <main id="main" tabIndex={-1} class={onMap ? "on-map" : "off-map"}>
        <MapHost hidden={!onMap} />
        <Announcement />
        {who === undefined ? <Waiting /> : asks ? <SignInPage /> : page.body(at)}
      </main>
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

function signOut(): void {
  if (session.stays) void ask("/console/session", { method: "DELETE" }).catch(() => (session.notice.value = t.app.notForgotten));
  session.end(t.app.signedOut);
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
          {who && link("hotspots", t.app.myHotspots)}
          {who && session.paid && link("rewards", t.app.rewards)}
          {who && session.may("hotspots:verify") && link("staff", t.app.staff)}
          {who && !session.may("hotspots:verify") && session.may("keys:manage") && link("keys", t.app.keys)}
          <li>
            <a href="/docs">{t.app.docs}</a>
          </li>
        </ul>
      </nav>
      <History />
      {who && <Live />}
      <ThemeSwitch />
      <LanguageSwitch />
      {who ? (
        <div class="who">
          <span class="name" title={t.app.signedInWith(who.id, who.user_id)}>
            <span class="sr-only">{t.app.signedInAs}</span>
            {who.name || format.shortId(who.id)}
          </span>
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
