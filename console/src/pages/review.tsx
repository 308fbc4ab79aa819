// What is unusual about hotspots, for staff: a flag is no verdict.
import { useState } from "preact/hooks";
import * as format from "../format";
import { t } from "../messages";
import { Facts } from "../parts/facts";
import { HotspotLink, User } from "../parts/named";
import { ErrorNote } from "../parts/note";
import { ReasonForm } from "../parts/reason";
import { useAsk } from "../parts/use";
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
          {t.review.weight(flag.weight, flag.first_day === flag.last_day ? format.date(flag.last_day) : t.review.days(format.date(flag.first_day), format.date(flag.last_day)))}
        </span>
      </div>
      <p>
        <HotspotLink id={flag.hotspot_id} /> <span class="small">{t.review.of}</span> <User id={flag.operator_id} />
      </p>
      <p class="hint">{text}</p>
      <Facts of={flag.facts.map(({ name, value }) => [t.review.fact(name), measured(name, value)])} />
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
      {opened === "dismiss" && (
        <ReasonForm path={`/v1/review/${flag.hotspot_id}/${flag.kind}`} hint={t.review.hint} verb={t.review.dismissIt} button="button" onDone={onDismissed} />
      )}
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

/** A fact of a flag, in the unit that its name has. */
function measured(name: string, value: number): string {
  if (name.endsWith("_m")) return format.metres(value);
  if (name.endsWith("_mbps")) return t.review.bandwidth(format.count(value));
  return name.includes("bytes") ? format.gigabytes(value / 1e9) : format.count(value);
}
