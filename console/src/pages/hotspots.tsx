// The first page of an operator: how the hotspots are, what they earned, and what to do.
import { useMemo, useState } from "preact/hooks";
import { ask } from "../api";
import { now, today } from "../clock";
import * as format from "../format";
import { attention, choose, headline, hotspotsCSV, inWords, toDo, type Choice, type Earnings as Earned, type Order } from "../home";
import { changes, happenings } from "../live";
import { t } from "../messages";
import { most, useMine } from "../mine";
import { Credits } from "../parts/credits";
import { Choice as ChoiceField, SearchField } from "../parts/field";
import { ErrorNote } from "../parts/note";
import { saveCSV } from "../parts/save";
import { StatusBadge } from "../parts/status";
import { useAsk, useCalm, useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { Hold, Hotspot, OperatingHours, Rewards, Status } from "../types";
import { Earnings } from "./earnings";
import { HoursEditor } from "./hours";

const none: never[] = [];

export function HotspotsPage() {
  const version = useCell(changes);
  const [text, setText] = useState("");
  const typed = useCalm(text.trim(), 250);
  const [many, setMany] = useState(false); // more than are read: the server searches
  const mine = useMine(many ? typed : "", version);
  if (mine.total > most && !many) setMany(true);
  const paid = session.may("rewards:read");
  const minutes = Math.floor(now() / 60_000); // what is earned changes by the minute
  const rewards = useAsk<Rewards>(paid ? "/v1/users/me/rewards?period=current" : null, minutes);
  const holds = useAsk<Hold[]>(paid ? "/v1/users/me/holds?per_page=100" : null);
  const earned = useMemo(
    () => (rewards.answer ? new Map(rewards.answer.data.hotspots.map(({ hotspot_id, earned }) => [hotspot_id, earned])) : undefined),
    [rewards.answer],
  );
  const { hotspots } = mine;
  const empty = hotspots?.length === 0 && !text;
  return (
    <section class="page">
      <div class="head">
        <h1>{t.app.myHotspots}</h1>
        {session.may("hotspots:write") && (
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
      {!hotspots && !mine.error && <p class="waiting">{t.words.wait}</p>}
      {empty && (
        <p class="card" role="status">
          {t.home.none}
        </p>
      )}
      {hotspots && !empty && (
        <>
          {!many && <p class="headline">{headline(hotspots, rewards.answer?.data.summary.total_earned)}</p>}
          <div class="columns home">
            <AttentionList hotspots={hotspots} holds={holds.answer?.data ?? none} />
            <Activity hotspots={hotspots} />
          </div>
          {paid && (
            <section class="card wide">
              <Earnings version={minutes} />
            </section>
          )}
          <List hotspots={hotspots} total={mine.total} earned={earned} text={text} onSearch={setText} onChanged={mine.reload} />
        </>
      )}
    </section>
  );
}

const shownAtFirst = 5;

function AttentionList({ hotspots, holds }: { hotspots: Hotspot[]; holds: Hold[] }) {
  const [all, setAll] = useState(false);
  const list = useMemo(() => attention(hotspots, holds, now()), [hotspots, holds]);
  return (
    <section class="card">
      <h2>{t.home.attention}{list.length > 0 ? ` (${format.count(list.length)})` : ""}</h2>
      {list.length === 0 && <p class="hint">{t.home.nothing}</p>}
      <ul class="plain">
        {(all ? list : list.slice(0, shownAtFirst)).map(({ id, name, what, why }, i) => (
          <li key={i}>
            {id ? <a href={`#/hotspots/${id}`}>{name}</a> : <strong>{name}</strong>}: {what}
            <span class="small block">{why}</span>
          </li>
        ))}
      </ul>
      {list.length > shownAtFirst && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t.home.fewer : t.home.showAll(format.count(list.length))}
        </button>
      )}
    </section>
  );
}

const newest = 8;

function Activity({ hotspots }: { hotspots: Hotspot[] }) {
  const { since, events } = useCell(happenings);
  const names = useMemo(() => new Map(hotspots.map(({ id, name }) => [id, name])), [hotspots]);
  const own = events.filter(({ hotspot_id }) => !hotspot_id || names.has(hotspot_id)).slice(0, newest);
  return (
    <section class="card">
      <h2>{t.home.activity}</h2>
      <div role="log" aria-label={t.home.activity}>
        <ul class="plain">
          {own.map((event) => (
            <li key={event.id}>
              {inWords(event, names)}
              <span class="small block">{format.time(event.at)}</span>
            </li>
          ))}
        </ul>
      </div>
      {own.length === 0 && <p class="hint">{t.home.quiet(format.time(new Date(since).toISOString()))}</p>}
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
  total: number;
  earned: Earned | undefined;
  text: string;
  onSearch: (text: string) => void;
  onChanged: () => void;
}

function List({ hotspots, total, earned, text, onSearch, onChanged }: ListProps) {
  const [choice, setChoice] = useState<Omit<Choice, "text">>({ status: "", order: "name", down: false });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState(perScreen);
  const found = useMemo(() => choose(hotspots, { ...choice, text }, earned ?? new Map()), [hotspots, choice, text, earned]);
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
        <SearchField label={t.home.search} value={text} onSearch={onSearch} />
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
          options={orders.filter(([order]) => order !== "earned" || earned)}
          onChange={(order) => setChoice({ ...choice, order: order as Order, down: order !== "name" && order !== "status" })}
        />
        <button type="button" class="quiet" disabled={whole.length === 0} onClick={() => saveCSV(`hotspots-${today()}.csv`, hotspotsCSV(whole, earned))}>
          {t.home.csv(format.count(whole.length))}
        </button>
      </div>
      {total > hotspots.length && (
        <p class="note">{t.home.some(format.count(hotspots.length), format.count(total))}</p>
      )}
      {picked.length > 0 && <Together hotspots={picked} onDone={() => (setSelected(new Set()), onChanged())} />}
      {found.length === 0 && (
        <p role="status">{text.trim() ? t.home.noneNamed(text.trim()) : t.home.noneWithStatus}</p>
      )}
      {found.length > 0 && (
        <table>
          <thead>
            <tr>
              {session.may("hotspots:write") && (
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
              {earned && heading("earned", t.home.earnedThisMonth, "number")}
              {heading("uptime", t.words.uptime30, "number spare")}
              {heading("traffic", t.home.traffic24, "number spare")}
              <th scope="col" class="spare">
                {t.home.toDo}
              </th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, shown).map((hotspot) => (
              <tr key={hotspot.id}>
                {session.may("hotspots:write") && (
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
                    {t.home.row(format.uptime(hotspot.status, hotspot.metrics.uptime_30d), format.gigabytes(hotspot.metrics.bandwidth_used_24h_gb))}
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
                <td class="number spare">{format.gigabytes(hotspot.metrics.bandwidth_used_24h_gb)}</td>
                <td class="spare">{toDo(hotspot) || "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {found.length > shown && (
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
