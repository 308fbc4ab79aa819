// What is unusual about hotspots, for staff: a flag is no verdict.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { kindTexts, factText } from "../flags";
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
    <Desk at="/review" title="Review">
      <p class="hint">
        All hotspots are looked at once a day, after it has ended in UTC. What is hardest to explain comes first. A flag is no verdict and costs nobody
        money: look at the hotspot, or <a href="/docs/trust">read what each flag means</a>.
      </p>
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
        {told} {total === 0 ? "Nothing to look at." : `${format.count(total)} ${total === 1 ? "flag" : "flags"}.`}
      </p>
      <ol class="cards" aria-label="Flags">
        {flags.map((flag) => (
          <li key={`${flag.hotspot_id} ${flag.kind}`}>
            <FlagCard flag={flag} onDismissed={done("Dismissed.")} onHeld={() => setTold("The hold is placed.")} />
          </li>
        ))}
      </ol>
      {flags.length < total && limit < most && (
        <button type="button" class="quiet" onClick={() => setLimit(most)}>
          Show more
        </button>
      )}
      {flags.length < total && limit === most && <p class="hint">These are the first {most}. Others follow as these are dismissed.</p>}
    </>
  );
}

type Opened = "" | "dismiss" | "hold";

function FlagCard({ flag, onDismissed, onHeld }: { flag: Flag; onDismissed: () => void; onHeld: () => void }) {
  const [opened, setOpened] = useState<Opened>("");
  const { title, text } = kindTexts[flag.kind];
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
          weight {flag.weight} · {flag.first_day === flag.last_day ? flag.last_day : `${flag.first_day} to ${flag.last_day}`}
        </span>
      </div>
      <p>
        <HotspotLink id={flag.hotspot_id} /> <span class="small">of</span> <User id={flag.operator_id} />
      </p>
      <p class="hint">{text}</p>
      <dl class="facts">
        {flag.facts.map((fact) => (
          <>
            <dt>{factText(fact.name)}</dt>
            <dd>{format.count(fact.value)}</dd>
          </>
        ))}
      </dl>
      <div class="line">
        <a class="button" href={`#/visits/${flag.hotspot_id}`}>
          Visit
        </a>
        <a class="quiet" href={`#/map/${flag.hotspot_id}`}>
          Map
        </a>
        {toggle("dismiss", "Dismiss")}
        {toggle("hold", "Hold")}
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
        label="Reason"
        name="reason"
        hint="For the audit. It does not return for 90 days, even if it is seen again."
        maxLength={200}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
        fault={faultAt(error, "reason")}
      />
      <ErrorNote error={error} at={["reason"]} />
      <button type="submit" class="button" disabled={busy}>
        Dismiss it
      </button>
    </form>
  );
}
