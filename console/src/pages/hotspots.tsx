// The first page of an operator: how the hotspots are, what they earned, and what to do.
import { useEffect, useMemo, useState } from "preact/hooks";
import { ask, send } from "../api";
import { now, today } from "../clock";
import * as format from "../format";
import { attention, choose as chosen, dayBefore, headline, hotspotsCSV, inWords, leastPaid, sharedPart, toDo, type Choice, type Named, type Shared, type Earnings as Earned, type Order } from "../home";
import { changes, happenings } from "../live";
import { t } from "../messages";
import { atOnce, ownPage, seldom, useMine } from "../mine";
import { Ago } from "../parts/ago";
import { Credits } from "../parts/credits";
import { Choice as ChoiceField, SearchField } from "../parts/field";
import { ErrorNote } from "../parts/note";
import { Pager } from "../parts/pager";
import { save, saveCSV } from "../parts/save";
import { StatusBadge } from "../parts/status";
import { useAsk, useCalm, useDoing, useSeldom } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { Explanation, Hold, Hotspot, OperatingHours, Pagination, Rewards, Status } from "../types";
import { DeletedLately } from "./deleted";
import { Earnings } from "./earnings";
import { OffersReceived } from "./handover";
import { HoursEditor } from "./hours";

const none: never[] = [];
const first: Choice = { text: "", status: "", order: "name", down: false };
const csvName = (): string => `hotspots-${today()}.csv`;

export function HotspotsPage() {
  const who = useCell(session.who);
  if (session.assigned) return <AssignedPage />;
  if (!who?.user_id) return <NoAccount />;
  return <OwnHotspots />;
}

/** For staff who have no hotspots of their own, and could have none: no account. */
function NoAccount() {
  return (
    <section class="page">
      <h1>{t.app.myHotspots}</h1>
      <p class="note">{t.members.noAccount}</p>
    </section>
  );
}

/** What an installer sees to: the hotspots that are assigned to them. */
function AssignedPage() {
  const { hotspots, error } = useMine("", useCell(changes));
  return (
    <section class="page">
      <h1>{t.app.myHotspots}</h1>
      <p class="hint">{t.assigned.about}</p>
      <ErrorNote error={error} />
      {!hotspots && !error && <p class="waiting">{t.words.wait}</p>}
      {hotspots?.length === 0 && (
        <p class="card" role="status">
          {t.assigned.none}
        </p>
      )}
      {hotspots && hotspots.length > 0 && (
        <ul class="cards" aria-label={t.words.hotspots}>
          {hotspots.map((hotspot) => (
            <li key={hotspot.id} class="card wide">
              <div class="head">
                <h2>
                  <a href={`#/hotspots/${hotspot.id}`}>{hotspot.name}</a>
                </h2>
                <StatusBadge status={hotspot.status} />
              </div>
              {hotspot.location.address && <p class="small">{hotspot.location.address}</p>}
              <p>
                {t.words.device}: {hotspot.device.linked ? t.words.linked : t.words.notLinked}
              </p>
              <div class="line">
                <a class={hotspot.device.linked ? "quiet" : "button"} href={`#/hotspots/${hotspot.id}`}>
                  {t.assigned.open} <span class="sr-only">{hotspot.name}</span>
                </a>
                <a class="quiet" href={`#/map/${hotspot.id}`}>
                  {t.app.map} <span class="sr-only">{hotspot.name}</span>
                </a>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function OwnHotspots() {
  const changed = useCell(changes);
  const [choice, setChoice] = useState(first);
  const [page, setPage] = useState(1);
  const [many, setMany] = useState(false); // more than are read at once: the server searches, orders and pages
  const version = useSeldom(changed, many ? seldom : 0);
  const asked = useCalm(many ? choice : first, 250);
  const mine = useAsk<Hotspot[]>(ownPage(asked, page), version);
  const hotspots = mine.answer?.data;
  const found = mine.answer?.pagination?.total ?? 0;
  if (found > atOnce && !many) setMany(true);
  const choose = (next: Choice): void => {
    setChoice(next);
    setPage(1);
  };
  const offline = useAsk<Hotspot[]>(many ? ownPage({ ...first, status: "offline", order: "seen", down: true }) : null, version);
  const pending = useAsk<Hotspot[]>(many ? ownPage({ ...first, status: "pending" }) : null, version);
  const slack = useAsk<Hotspot[]>(many ? ownPage({ ...first, status: "online", order: "uptime" }, 1, 20) : null, version);
  const { paid } = session;
  const minutes = Math.floor(now() / (many ? 600_000 : 60_000)); // what is earned changes by the minute
  const rewards = useAsk<Rewards>(paid ? "/v1/users/me/rewards?period=current" : null, minutes);
  const holds = useAsk<Hold[]>(paid ? "/v1/users/me/holds?per_page=100" : null);
  const earned = useMemo(
    () => (rewards.answer ? new Map(rewards.answer.data.hotspots.map(({ hotspot_id, earned }) => [hotspot_id, earned])) : undefined),
    [rewards.answer],
  );
  // Of very many, those that may need attention.
  const apart = [offline, pending, slack].map(({ answer }) => answer);
  const looked = useMemo(() => (many ? apart.flatMap((answer) => answer?.data ?? []) : hotspots), [many, hotspots, ...apart]);
  const totals = many ? apart.map((answer) => answer?.pagination?.total ?? 0) : undefined;
  const counts = totals ? { online: totals[2] ?? 0, total: totals.reduce((sum, n) => sum + n, 0) } : { online: hotspots?.filter(({ status }) => status === "online").length ?? 0, total: found };
  const reload = (): void => [mine, offline, pending, slack].forEach((one) => one.reload());
  const empty = hotspots?.length === 0 && !many;
  return (
    <section class="page">
      <div class="head">
        <h1>{t.app.myHotspots}</h1>
        {session.may("hotspots") && (
          <div class="line">
            <a class="button" href="#/register">
              {t.app.register}
            </a>
            <a class="quiet" href="#/import">
              {t.import.link}
            </a>
          </div>
        )}
      </div>
      <ErrorNote error={mine.error} />
      <OffersReceived onTaken={reload} />
      <DeletedLately onRestored={reload} />
      {!hotspots && !mine.error && <p class="waiting">{t.words.wait}</p>}
      {empty && (
        <p class="card" role="status">
          {t.home.none}
        </p>
      )}
      {hotspots && !empty && (
        <>
          <p class="headline">{headline(counts.online, counts.total, rewards.answer?.data.summary.total_earned)}</p>
          <div class="columns home">
            <AttentionList hotspots={looked ?? none} holds={holds.answer?.data ?? none} rewards={rewards.answer?.data} more={beyond(totals)} />
            <Activity hotspots={hotspots} />
          </div>
          {paid && (
            <section class="card wide">
              <Earnings version={minutes} />
            </section>
          )}
          <List hotspots={hotspots} many={many} pagination={mine.answer?.pagination} onPage={setPage} earned={earned} choice={choice} onChoice={choose} onChanged={reload} />
        </>
      )}
    </section>
  );
}

const shownAtFirst = 5;

/** Of very many, how many are offline or pending beside those that were looked at. */
function beyond([offline = 0, pending = 0]: number[] = []): string[] {
  const tell = (n: number, say: (n: number, count: string) => string): string[] => (n > atOnce ? [say(n - atOnce, format.count(n - atOnce))] : []);
  return [...tell(offline, t.home.moreOffline), ...tell(pending, t.home.morePending)];
}

interface AttentionProps {
  hotspots: Hotspot[];
  holds: Hold[];
  rewards: Rewards | undefined;
  more: string[]; // what there is that the hotspots do not have
}

function AttentionList({ hotspots, holds, rewards, more }: AttentionProps) {
  const [all, setAll] = useState(false);
  const shared = useShared(rewards);
  const list = useMemo(() => attention(hotspots, holds, now(), shared), [hotspots, holds, shared]);
  return (
    <section class="card">
      <h2>{t.home.attention}{list.length > 0 ? ` (${format.count(list.length)})` : ""}</h2>
      {list.length === 0 && <p class="hint">{t.home.nothing}</p>}
      <ul class="plain">
        {(all ? list : list.slice(0, shownAtFirst)).map(({ id, name, what, why, among }, i) => (
          <li key={i}>
            {id ? <a href={`#/hotspots/${id}`}>{name}</a> : <strong>{name}</strong>}: {what}
            <span class="small block">{why}</span>
            {among.length > 0 && <Among of={among} />}
          </li>
        ))}
      </ul>
      {more.map((text) => (
        <p key={text} class="hint">
          {text}
        </p>
      ))}
      {list.length > shownAtFirst && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t.home.fewer : t.home.showAll(format.count(list.length))}
        </button>
      )}
    </section>
  );
}

/** Which hotspots have one cause. */
function Among({ of: hotspots }: { of: Named[] }) {
  const rest = hotspots.length - 3;
  const names = hotspots.slice(0, 3).map(({ name }) => name).join(", ");
  return (
    <details class="small">
      <summary>{rest > 0 ? t.home.andMore(names, format.count(rest)) : names}</summary>
      <ul>
        {hotspots.map(({ id, name }) => (
          <li key={id}>
            <a href={`#/hotspots/${id}`}>{name}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Of the hotspots that earned least, what of yesterday was others'. */
function useShared(rewards: Rewards | undefined): Shared[] {
  const [shared, setShared] = useState<Shared[]>(none);
  const yesterday = dayBefore(today());
  const poorest = rewards ? leastPaid(rewards.hotspots, yesterday) : none;
  useEffect(() => {
    const stop = new AbortController();
    const parts = poorest.map(async (hotspot): Promise<Shared> => {
      const { data } = await ask<Explanation>(`/v1/hotspots/${hotspot.id}/rewards/explain?date=${yesterday}`, { signal: stop.signal });
      return { ...hotspot, part: sharedPart(data) };
    });
    void Promise.allSettled(parts).then((told) => {
      if (!stop.signal.aborted) setShared(told.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
    });
    return () => stop.abort();
  }, [poorest.map(({ id }) => id).join()]);
  return shared;
}

const newest = 8;

function Activity({ hotspots }: { hotspots: Hotspot[] }) {
  const { since, events } = useCell(happenings);
  const names = useMemo(() => new Map(hotspots.map(({ id, name }) => [id, name])), [hotspots]);
  const own = events.filter(({ hotspot_id }) => (hotspot_id ? names.has(hotspot_id) : session.paid)).slice(0, newest);
  return (
    <section class={own.length === 0 ? "card idle" : "card"}>
      <h2>{t.home.activity}</h2>
      <div role="log" aria-label={t.home.activity}>
        <ul class="plain">
          {own.map((event) => (
            <li key={event.id}>
              {inWords(event, names)}
              <span class="small block">
                <Ago at={event.at} />
              </span>
            </li>
          ))}
        </ul>
      </div>
      {own.length === 0 && <p class="hint">{t.home.quiet(<Ago at={new Date(since).toISOString()} />)}</p>}
    </section>
  );
}

const orders: [Order, string][] = [
  ["name", t.words.name],
  ["status", t.words.status],
  ["earned", t.words.earned],
  ["uptime", t.home.uptime],
  ["traffic", t.home.traffic],
];
const perScreen = 50;

interface ListProps {
  hotspots: Hotspot[];
  many: boolean; // they are a page that the server chose
  pagination: Pagination | undefined;
  onPage: (page: number) => void;
  earned: Earned | undefined;
  choice: Choice;
  onChoice: (choice: Choice) => void;
  onChanged: () => void;
}

function List({ hotspots, many, pagination, onPage, earned, choice, onChoice: setChoice, onChanged }: ListProps) {
  const { text } = choice;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState(perScreen);
  const saving = useDoing();
  const found = useMemo(() => (many ? hotspots : chosen(hotspots, choice, earned ?? new Map())), [hotspots, many, choice, earned]);
  const saveAll = (): void => saving.run(async () => save(csvName(), await (await send(ownPage(choice), { headers: { Accept: "text/csv" } })).blob()));
  const picked = found.filter(({ id }) => selected.has(id));
  const select = (id: string, on: boolean): void => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  const heading = (order: Order, name: string, kind = "") => (
    <th scope="col" class={kind} aria-sort={choice.order === order ? (choice.down ? "descending" : "ascending") : undefined}>
      <button type="button" class="plain-button" onClick={() => setChoice({ ...choice, order, down: choice.order === order ? !choice.down : order !== "name" && order !== "status" })}>
        {name}
        <span aria-hidden="true">{choice.order === order ? (choice.down ? " ↓" : " ↑") : ""}</span>
      </button>
    </th>
  );
  const whole = picked.length > 0 ? picked : found;
  return (
    <section class="card wide">
      <div class="line">
        <SearchField label={t.home.search} value={text} onSearch={(text) => setChoice({ ...choice, text })} />
        <ChoiceField
          label={t.words.status}
          name="status"
          value={choice.status}
          options={[["", t.words.all], ...Object.entries(t.status)]}
          onChange={(status) => setChoice({ ...choice, status: status as Status | "" })}
        />
        <ChoiceField
          label={t.words.order}
          name="order"
          value={choice.order}
          options={orders.filter(([order]) => order !== "earned" || (earned && !many))}
          onChange={(order) => setChoice({ ...choice, order: order as Order, down: order !== "name" && order !== "status" })}
        />
        <button
          type="button"
          class="quiet"
          disabled={whole.length === 0 || saving.busy}
          onClick={() => (many && picked.length === 0 ? saveAll() : saveCSV(csvName(), hotspotsCSV(whole, earned)))}
        >
          {t.home.csv(format.count(many && picked.length === 0 ? (pagination?.total ?? 0) : whole.length))}
        </button>
      </div>
      <ErrorNote error={saving.error} />
      {picked.length > 0 && <Together hotspots={picked} onDone={() => (setSelected(new Set()), onChanged())} />}
      {found.length === 0 && (
        <p role="status">{text.trim() ? t.home.noneNamed(text.trim()) : t.home.noneWithStatus}</p>
      )}
      {found.length > 0 && (
        <table>
          <thead>
            <tr>
              {session.may("hotspots") && (
                <th scope="col">
                  <input
                    type="checkbox"
                    aria-label={t.home.selectAll}
                    checked={picked.length === found.length}
                    onChange={(event) => setSelected(new Set(event.currentTarget.checked ? found.map(({ id }) => id) : []))}
                  />
                </th>
              )}
              {heading("name", t.words.name)}
              {heading("status", t.words.status)}
              {earned && (many ? <th scope="col" class="number">{t.home.earnedThisMonth}</th> : heading("earned", t.home.earnedThisMonth, "number"))}
              {heading("uptime", t.words.uptime30, "number spare")}
              {heading("traffic", t.home.traffic24, "number spare")}
              <th scope="col" class="spare">
                {t.home.toDo}
              </th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, many ? atOnce : shown).map((hotspot) => (
              <tr key={hotspot.id}>
                {session.may("hotspots") && (
                  <td>
                    <input
                      type="checkbox"
                      aria-label={t.home.select(hotspot.name)}
                      checked={selected.has(hotspot.id)}
                      onChange={(event) => select(hotspot.id, event.currentTarget.checked)}
                    />
                  </td>
                )}
                <th scope="row">
                  <a href={`#/hotspots/${hotspot.id}`}>{hotspot.name}</a>
                  <span class="small instead">
                    {t.home.row(format.uptime(hotspot.status, hotspot.metrics.uptime_30d), format.traffic(hotspot.metrics.bandwidth_used_24h_gb))}
                  </span>
                </th>
                <td>
                  <StatusBadge status={hotspot.status} />
                </td>
                {earned && (
                  <td class="number">
                    <Credits amount={earned.get(hotspot.id) ?? 0} />
                  </td>
                )}
                <td class="number spare">{format.uptime(hotspot.status, hotspot.metrics.uptime_30d)}</td>
                <td class="number spare">{format.traffic(hotspot.metrics.bandwidth_used_24h_gb)}</td>
                <td class="spare">{toDo(hotspot) || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {many && <Pager pagination={pagination} onPage={onPage} />}
      {!many && found.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + perScreen)}>
          {t.home.more(format.count(Math.min(perScreen, found.length - shown)))}
        </button>
      )}
    </section>
  );
}

/** What is done to several hotspots, one after the other. What failed stays selected. */
function Together({ hotspots, onDone }: { hotspots: Hotspot[]; onDone: () => void }) {
  const [hours, setHours] = useState<OperatingHours | null>(null);
  const [editing, setEditing] = useState(false);
  const [done, setDone] = useState(0);
  const { busy, error, run } = useDoing();
  const count = t.words.hotspotCount(hotspots.length, format.count(hotspots.length));
  const each = (work: (id: string) => Promise<unknown>): void => {
    setDone(0);
    run(async () => {
      for (const { id } of hotspots) {
        await work(encodeURIComponent(id));
        setDone((n) => n + 1);
      }
      onDone();
    });
  };
  const remove = (): void => {
    const first = hotspots.slice(0, 5).map(({ name }) => name);
    const rest = hotspots.length - first.length;
    const names = first.join(", ");
    if (confirm(t.home.confirmDelete(count, rest > 0 ? t.home.andMore(names, format.count(rest)) : names)))
      each((id) => ask(`/v1/hotspots/${id}`, { method: "DELETE" }));
  };
  return (
    <div class="inset">
      <div class="line">
        <span role="status">{busy ? t.home.doing(format.count(done), count) : t.home.selected(count)}</span>
        <button type="button" class="quiet" aria-expanded={editing} disabled={busy} onClick={() => setEditing(!editing)}>
          {t.home.setHours}
        </button>
        <button type="button" class="quiet danger" disabled={busy} onClick={remove}>
          {t.words.delete}
        </button>
      </div>
      {editing && (
        <>
          <HoursEditor hours={hours} onChange={setHours} faults={none} />
          <button
            type="button"
            class="button"
            disabled={busy}
            onClick={() => each((id) => ask(`/v1/hotspots/${id}`, { method: "PATCH", body: { settings: { operating_hours: hours } } }))}
          >
            {t.home.saveHours(count)}
          </button>
        </>
      )}
      <ErrorNote error={error} />
    </div>
  );
}
