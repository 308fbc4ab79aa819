// What staff hold back, and why: never confiscation.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { bounds } from "../bounds";
import { now } from "../clock";
import * as format from "../format";
import { beginOf, latestEnd, soonestEnd, target } from "../holds";
import { t } from "../messages";
import { Facts, type Fact } from "../parts/facts";
import { Field } from "../parts/field";
import { HotspotLink, User } from "../parts/named";
import { cardAt, useNext } from "../parts/next";
import { ErrorNote, faultAt } from "../parts/note";
import { Pager } from "../parts/pager";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import type { Hold } from "../types";
import { Desk } from "./staff";

export function HoldsPage({ query }: { query: Record<string, string> }) {
  return (
    <Desk at="/holds" title={t.holds.title} needs="hold_list">
      <p class="hint">{t.holds.about((text) => <a href="/docs/rewards#holds">{text}</a>)}</p>
      <List wanted={query.hotspot ?? query.operator ?? ""} />
    </Desk>
  );
}

function List({ wanted }: { wanted: string }) {
  const [page, setPage] = useState(1);
  const [told, setTold] = useState("");
  const { answer, error, reload } = useAsk<Hold[]>(`/v1/holds?per_page=20&page=${page}`);
  const focus = useNext(answer);
  const done = (what: string): void => {
    setTold(what);
    reload();
  };
  const decided = (place: number) => (what: string): void => {
    const all = answer?.data ?? [];
    const after = all.findIndex(({ status }, i) => i > place && status === "active");
    focus(() => cardAt(after >= 0 ? after : place)); // the next to decide about, else the same
    done(what);
  };
  return (
    <>
      {session.may("holds") && (
        <section class="card wide">
          <details open={wanted !== ""}>
            <summary>{t.holds.place}</summary>
            <HoldForm hotspot={wanted} asks onDone={() => done(t.holds.placed)} />
          </details>
        </section>
      )}
      <ErrorNote error={error} />
      {!answer && !error && <p class="waiting">{t.words.wait}</p>}
      <p role="status">
        {told} {answer && (answer.pagination?.total === 0 ? t.holds.none : t.holds.inAll(format.count(answer.pagination?.total ?? 0)))}
      </p>
      <ol class="cards" aria-label={t.holds.title}>
        {answer?.data.map((hold, i) => (
          <li key={hold.id}>
            <article class="card wide" aria-label={t.holds.hold(hold.id)} tabIndex={-1}>
              <div class="head">
                <h2>{hold.hotspot_id ? <HotspotLink id={hold.hotspot_id} /> : t.holds.allOf}</h2>
                <HoldState hold={hold} />
              </div>
              <p class="small">
                {t.holds.operator} <User id={hold.operator_id} /> · <code class="id" title={hold.id}>{format.shortId(hold.id)}</code>
              </p>
              <HoldFacts hold={hold} />
              {hold.status === "active" && session.may("holds") && <Decisions hold={hold} onDone={decided(i)} />}
            </article>
          </li>
        ))}
      </ol>
      <Pager pagination={answer?.pagination} onPage={setPage} />
    </>
  );
}

export function HoldState({ hold }: { hold: Hold }) {
  return <span class={`badge ${hold.status === "active" ? "pending" : hold.status === "released" ? "online" : "offline"}`}>{t.holds.states[hold.status]}</span>;
}

/** Why something is held, since when and until when, and what was said about it. */
export function HoldFacts({ hold }: { hold: Hold }) {
  const said = (name: string, act: Hold["answer"]): Fact => act && [name, [act.text, " ", <span class="small">({format.time(act.at)})</span>]];
  return (
    <Facts
      of={[
        [t.words.reason, hold.reason],
        [t.holds.evidence, hold.evidence],
        [t.holds.since, format.time(hold.placed_at)],
        [t.holds.until, format.time(hold.until)],
        ...hold.extensions.map((act) => said(t.holds.extended, act)),
        said(hold.status === "voided" ? t.holds.failedVisit : t.holds.failedOnce, hold.failed_visit),
        said(t.holds.answer, hold.answer),
        said(t.holds.ended, hold.ended),
      ]}
    />
  );
}

/** Holds a hotspot, or whom or what someone types. */
export function HoldForm({ hotspot, asks = false, onDone }: { hotspot: string; asks?: boolean; onDone: () => void }) {
  const [whom, setWhom] = useState(hotspot);
  const [reason, setReason] = useState("");
  const [evidence, setEvidence] = useState("");
  const [until, setUntil] = useState(() => latestEnd(now()));
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    await ask("/v1/holds", { method: "POST", body: { ...target(whom), reason, evidence, until: beginOf(until) } });
    setReason("");
    setEvidence("");
    onDone();
  });
  return (
    <form class="inset" onSubmit={send} noValidate>
      {asks && (
        <Field
          label={t.holds.whom}
          name="whom"
          hint={t.holds.whomHint}
          value={whom}
          onInput={(event) => setWhom(event.currentTarget.value)}
          fault={faultAt(error, "hotspot_id") || faultAt(error, "operator_id")}
        />
      )}
      <Statement label={t.words.reason} name="reason" hint={t.holds.operatorReads} value={reason} onText={setReason} error={error} />
      <Statement label={t.holds.evidence} name="evidence" hint={t.holds.operatorReads} value={evidence} onText={setEvidence} error={error} />
      <End value={until} onDay={setUntil} error={error} />
      <ErrorNote error={error} at={[...(asks ? ["hotspot_id", "operator_id"] : []), "reason", "evidence", "until"]} />
      <button type="submit" class="button" disabled={busy}>
        {t.holds.placeIt}
      </button>
    </form>
  );
}

interface StatementProps {
  label: string;
  name: string;
  hint?: string;
  value: string;
  onText: (text: string) => void;
  error: unknown;
}

export function Statement({ onText, error, ...field }: StatementProps) {
  return <Field {...field} maxLength={bounds.HoldText.most} onInput={(event) => onText(event.currentTarget.value)} fault={faultAt(error, field.name)} />;
}

function End({ value, onDay, error }: { value: string; onDay: (day: string) => void; error: unknown }) {
  return (
    <Field
      label={t.holds.ends}
      name="until"
      type="date"
      hint={t.holds.endsHint}
      min={soonestEnd(now())}
      max={latestEnd(now())}
      value={value}
      onInput={(event) => onDay(event.currentTarget.value)}
      fault={faultAt(error, "until")}
    />
  );
}

const actions = ["extend", "release", "void"] as const;
type Action = (typeof actions)[number];

function Decisions({ hold, onDone }: { hold: Hold; onDone: (what: string) => void }) {
  const [action, setAction] = useState<Action | "">("");
  const name = (a: Action): string => (a === "void" && hold.failed_visit ? t.holds.confirmFailed : t.holds[a].name);
  return (
    <>
      <div class="line">
        {actions.map((a) => (
          <button key={a} type="button" class={a === "void" ? "quiet danger" : "quiet"} aria-expanded={action === a} onClick={() => setAction(action === a ? "" : a)}>
            {name(a)}
          </button>
        ))}
      </div>
      {action && (
        <Decision
          key={action}
          hold={hold}
          action={action}
          onDone={(what) => {
            setAction("");
            onDone(what);
          }}
        />
      )}
    </>
  );
}

function Decision({ hold, action, onDone }: { hold: Hold; action: Action; onDone: (what: string) => void }) {
  const [reason, setReason] = useState("");
  const [until, setUntil] = useState(() => latestEnd(now()));
  const { busy, error, submit } = useDoing();
  const texts = t.holds[action];
  const confirms = action === "void" && hold.failed_visit;
  const send = submit(async () => {
    const body = { action, reason, ...(action === "extend" ? { until: beginOf(until) } : {}) };
    await ask(`/v1/holds/${hold.id}/decisions`, { method: "POST", body });
    onDone(confirms ? t.holds.confirmed : texts.done);
  });
  return (
    <form class="inset" onSubmit={send} noValidate>
      <p class="hint">{texts.hint}</p>
      <Statement label={t.words.reason} name="reason" value={reason} onText={setReason} error={error} />
      {action === "extend" && <End value={until} onDay={setUntil} error={error} />}
      <ErrorNote error={error} at={["reason", "until"]} />
      <button type="submit" class="button" disabled={busy}>
        {confirms ? t.holds.confirm : texts.submit}
      </button>
    </form>
  );
}
