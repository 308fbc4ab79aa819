// What staff hold back, and why: never confiscation.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { beginOf, latestEnd, soonestEnd, target } from "../holds";
import { t } from "../messages";
import { Field } from "../parts/field";
import { HotspotLink, User } from "../parts/named";
import { ErrorNote, faultAt } from "../parts/note";
import { Pager } from "../parts/pager";
import { useAsk, useDoing } from "../parts/use";
import type { Hold } from "../types";
import { Desk } from "./staff";

export function HoldsPage({ query }: { query: Record<string, string> }) {
  return (
    <Desk at="/holds" title="Holds">
      <p class="hint">
        A hold keeps back what is earned on days that are closed while it lasts. Then the days are paid, unless a visit failed and two people say so.{" "}
        <a href="/docs/rewards#holds">How holds work</a>
      </p>
      <List wanted={query.hotspot ?? query.operator ?? ""} />
    </Desk>
  );
}

function List({ wanted }: { wanted: string }) {
  const [page, setPage] = useState(1);
  const [told, setTold] = useState("");
  const { answer, error, reload } = useAsk<Hold[]>(`/v1/holds?per_page=20&page=${page}`);
  const done = (what: string): void => {
    setTold(what);
    reload();
  };
  return (
    <>
      <section class="card wide">
        <details open={wanted !== ""}>
          <summary>Place a hold</summary>
          <HoldForm hotspot={wanted} asks onDone={() => done("The hold is placed.")} />
        </details>
      </section>
      <ErrorNote error={error} />
      {!answer && !error && <p class="waiting">{t.words.wait}</p>}
      <p role="status">
        {told} {answer && (answer.pagination?.total === 0 ? "Nothing is or was held." : `${format.count(answer.pagination?.total ?? 0)} in all, the newest first.`)}
      </p>
      <ol class="cards" aria-label="Holds">
        {answer?.data.map((hold) => (
          <li key={hold.id}>
            <article class="card wide" aria-label={`Hold ${hold.id}`}>
              <div class="head">
                <h2>{hold.hotspot_id ? <HotspotLink id={hold.hotspot_id} /> : "All hotspots of an operator"}</h2>
                <HoldState hold={hold} />
              </div>
              <p class="small">
                Operator <User id={hold.operator_id} /> · <code class="id">{hold.id}</code>
              </p>
              <HoldFacts hold={hold} />
              {hold.status === "active" && <Decisions hold={hold} onDone={done} />}
            </article>
          </li>
        ))}
      </ol>
      <Pager pagination={answer?.pagination} onPage={setPage} />
    </>
  );
}

const stateTexts = { active: "active", released: "released: it is paid", voided: "void: it is not paid" };

export function HoldState({ hold }: { hold: Hold }) {
  return <span class={`badge ${hold.status === "active" ? "pending" : hold.status === "released" ? "online" : "offline"}`}>{stateTexts[hold.status]}</span>;
}

/** Why something is held, since when and until when, and what was said about it. */
export function HoldFacts({ hold }: { hold: Hold }) {
  const said = (name: string, act: Hold["answer"]) =>
    act && (
      <>
        <dt>{name}</dt>
        <dd>
          {act.text} <span class="small">({format.time(act.at)})</span>
        </dd>
      </>
    );
  return (
    <dl class="facts">
      <dt>Reason</dt>
      <dd>{hold.reason}</dd>
      <dt>Evidence</dt>
      <dd>{hold.evidence}</dd>
      <dt>Since</dt>
      <dd>{format.time(hold.placed_at)}</dd>
      <dt>Until</dt>
      <dd>{format.time(hold.until)}</dd>
      {hold.extensions.map((act) => said("Extended", act))}
      {said(hold.status === "voided" ? "Failed visit" : "Failed visit, not confirmed", hold.failed_visit)}
      {said("Operator's answer", hold.answer)}
      {said("Ended", hold.ended)}
    </dl>
  );
}

/** Holds a hotspot, or whom or what someone types. */
export function HoldForm({ hotspot, asks = false, onDone }: { hotspot: string; asks?: boolean; onDone: () => void }) {
  const [whom, setWhom] = useState(hotspot);
  const [reason, setReason] = useState("");
  const [evidence, setEvidence] = useState("");
  const [until, setUntil] = useState(() => latestEnd(now()));
  const { busy, error, run } = useDoing();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await ask("/v1/holds", { method: "POST", body: { ...target(whom), reason, evidence, until: beginOf(until) } });
      setReason("");
      setEvidence("");
      onDone();
    });
  };
  return (
    <form class="inset" onSubmit={submit} noValidate>
      {asks && (
        <Field
          label="Hotspot or operator"
          name="whom"
          hint="Its id: hs_… holds one hotspot, usr_… all of an operator."
          value={whom}
          onInput={(event) => setWhom(event.currentTarget.value)}
          fault={faultAt(error, "hotspot_id") || faultAt(error, "operator_id")}
        />
      )}
      <Statement label="Reason" name="reason" hint="The operator reads it." value={reason} onText={setReason} error={error} />
      <Statement label="Evidence" name="evidence" hint="The operator reads it." value={evidence} onText={setEvidence} error={error} />
      <End value={until} onDay={setUntil} error={error} />
      <ErrorNote error={error} at={[...(asks ? ["hotspot_id", "operator_id"] : []), "reason", "evidence", "until"]} />
      <button type="submit" class="button" disabled={busy}>
        Place the hold
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
  return <Field {...field} maxLength={2000} onInput={(event) => onText(event.currentTarget.value)} fault={faultAt(error, field.name)} />;
}

function End({ value, onDay, error }: { value: string; onDay: (day: string) => void; error: unknown }) {
  return (
    <Field
      label="Ends"
      name="until"
      type="date"
      hint="When this day begins in UTC. Then what is held is paid by itself."
      min={soonestEnd(now())}
      max={latestEnd(now())}
      value={value}
      onInput={(event) => onDay(event.currentTarget.value)}
      fault={faultAt(error, "until")}
    />
  );
}

const actions = {
  extend: { name: "Extend", submit: "Extend the hold", done: "The hold is extended.", hint: "Someone else must do this than who set the end." },
  release: { name: "Release", submit: "Release it", done: "The hold is released.", hint: "What is held is paid with the next statement." },
  void: {
    name: "A visit failed",
    submit: "Record the failed visit",
    done: "The failed visit is recorded. Once someone else records it too, what is held is not paid.",
    hint: "Say what the visit found. Two people must say so: then the hold is over, and what is held is not paid.",
  },
} as const;
type Action = keyof typeof actions;

function Decisions({ hold, onDone }: { hold: Hold; onDone: (what: string) => void }) {
  const [action, setAction] = useState<Action | "">("");
  const name = (a: Action): string => (a === "void" && hold.failed_visit ? "Confirm the failed visit" : actions[a].name);
  return (
    <>
      <div class="line">
        {(Object.keys(actions) as Action[]).map((a) => (
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
  const { busy, error, run } = useDoing();
  const { submit, hint, done } = actions[action];
  const confirms = action === "void" && hold.failed_visit;
  return (
    <form
      class="inset"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        run(async () => {
          const body = { action, reason, ...(action === "extend" ? { until: beginOf(until) } : {}) };
          await ask(`/v1/holds/${hold.id}/decisions`, { method: "POST", body });
          onDone(confirms ? "The hold is over. What was held is not paid." : done);
        });
      }}
    >
      <p class="hint">{hint}</p>
      <Statement label="Reason" name="reason" value={reason} onText={setReason} error={error} />
      {action === "extend" && <End value={until} onDay={setUntil} error={error} />}
      <ErrorNote error={error} at={["reason", "until"]} />
      <button type="submit" class="button" disabled={busy}>
        {confirms ? "Confirm it" : submit}
      </button>
    </form>
  );
}
