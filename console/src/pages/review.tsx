// What is unusual about hotspots, for staff: a flag is no verdict.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { Field } from "../parts/field";
import { HotspotLink, User } from "../parts/named";
import { ErrorNote, faultAt } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import type { Flag, Review } from "../types";
import { HoldForm } from "./holds";
import { Desk } from "./staff";

const atFirst = 20;
const most = 100; // that the server returns

export function ReviewPage() {
  return (
    <Desk at="/review" title={t.staff.review}>
      <p class="hint">{t.review.about((text) => <a href="/docs/trust">{text}</a>)}</p>
      <Queue />
    </Desk>
  );
}

function Queue() {
  const [limit, setLimit] = useState(atFirst);
  const [told, setTold] = useState("");
  const { answer, error, reload } = useAsk<Review>(`/v1/review?limit=${limit}`);
  const done = (what: string) => (): void => {
    setTold(what);
    reload();
  };
  if (!answer) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const { total, flags } = answer.data;
  return (
    <>
      <ErrorNote error={error} />
      <p role="status">
        {told} {total === 0 ? t.review.none : t.review.count(total, format.count(total))}
      </p>
      <ol class="cards" aria-label={t.review.list}>
        {flags.map((flag) => (
          <li key={`${flag.hotspot_id} ${flag.kind}`}>
            <FlagCard flag={flag} onDismissed={done(t.review.dismissed)} onHeld={() => setTold(t.holds.placed)} />
          </li>
        ))}
      </ol>
      {flags.length < total && limit < most && (
        <button type="button" class="quiet" onClick={() => setLimit(most)}>
          {t.words.showMore}
        </button>
      )}
      {flags.length < total && limit === most && <p class="hint">{t.review.first(most)}</p>}
    </>
  );
}

type Opened = "" | "dismiss" | "hold";

function FlagCard({ flag, onDismissed, onHeld }: { flag: Flag; onDismissed: () => void; onHeld: () => void }) {
  const [opened, setOpened] = useState<Opened>("");
  const { title, text } = t.flags[flag.kind];
  const toggle = (form: Opened, name: string) => (
    <button type="button" class="quiet" aria-expanded={opened === form} onClick={() => setOpened(opened === form ? "" : form)}>
      {name}
    </button>
  );
  return (
    <article class="card wide" aria-label={title}>
      <div class="head">
        <h2>{title}</h2>
        <span class="small">
          {t.review.weight(flag.weight, flag.first_day === flag.last_day ? flag.last_day : t.review.days(flag.first_day, flag.last_day))}
        </span>
      </div>
      <p>
        <HotspotLink id={flag.hotspot_id} /> <span class="small">{t.review.of}</span> <User id={flag.operator_id} />
      </p>
      <p class="hint">{text}</p>
      <dl class="facts">
        {flag.facts.map((fact) => (
          <>
            <dt>{t.review.fact(fact.name)}</dt>
            <dd>{format.count(fact.value)}</dd>
          </>
        ))}
      </dl>
      <div class="line">
        <a class="button" href={`#/visits/${flag.hotspot_id}`}>
          {t.review.visit}
        </a>
        <a class="quiet" href={`#/map/${flag.hotspot_id}`}>
          {t.review.map}
        </a>
        {toggle("dismiss", t.review.dismiss)}
        {toggle("hold", t.review.hold)}
      </div>
      {opened === "dismiss" && <Dismissal flag={flag} onDone={onDismissed} />}
      {opened === "hold" && (
        <HoldForm
          hotspot={flag.hotspot_id}
          onDone={() => {
            setOpened("");
            onHeld();
          }}
        />
      )}
    </article>
  );
}

function Dismissal({ flag, onDone }: { flag: Flag; onDone: () => void }) {
  const [reason, setReason] = useState("");
  const { busy, error, run } = useDoing();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await ask(`/v1/review/${flag.hotspot_id}/${flag.kind}?${new URLSearchParams({ reason }).toString()}`, { method: "DELETE" });
      onDone();
    });
  };
  return (
    <form class="inset" onSubmit={submit} noValidate>
      <Field
        label={t.words.reason}
        name="reason"
        hint={t.review.hint}
        maxLength={200}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
        fault={faultAt(error, "reason")}
      />
      <ErrorNote error={error} at={["reason"]} />
      <button type="submit" class="button" disabled={busy}>
        {t.review.dismissIt}
      </button>
    </form>
  );
}
