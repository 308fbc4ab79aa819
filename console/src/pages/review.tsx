// What is unusual about hotspots, for staff: a flag is no verdict.
import { useState } from "preact/hooks";
import * as format from "../format";
import { rewardsOn } from "../head";
import { t } from "../messages";
import { Credits } from "../parts/credits";
import { Facts, type Fact } from "../parts/facts";
import { HotspotLink, User } from "../parts/named";
import { cardAt, useNext } from "../parts/next";
import { ErrorNote } from "../parts/note";
import { Pager } from "../parts/pager";
import { ReasonForm } from "../parts/reason";
import { useAsk } from "../parts/use";
import { session } from "../session";
import type { Flag, Review } from "../types";
import { HoldForm } from "./holds";
import { Desk } from "./staff";

/** What is flagged, by account; or each flag of one account. */
export function ReviewPage({ operator }: { operator: string }) {
  return (
    <Desk at="/review" title={t.staff.review} needs="review">
      <p class="hint">{t.review.about((text) => <a href="/docs/trust">{text}</a>)}</p>
      {operator && (
        <p>
          {t.review.ofOne} <User id={operator} /> · <a href="#/staff/review">{t.review.ofAll}</a>
        </p>
      )}
      <Queue operator={operator} />
    </Desk>
  );
}

function Queue({ operator }: { operator: string }) {
  const [page, setPage] = useState(1);
  const [told, setTold] = useState("");
  const { answer, error, reload } = useAsk<Review>(`/v1/review?per_page=20&page=${page}${operator && `&operator_id=${encodeURIComponent(operator)}`}`);
  const focus = useNext(answer);
  const done = (what: string, place: number) => (): void => {
    setTold(what);
    focus(() => cardAt(place));
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
        {flags.map((flag, i) => (
          <li key={`${flag.hotspot_id} ${flag.kind}`}>
            <FlagCard flag={flag} onDismissed={done(t.review.dismissed, i)} onHeld={() => setTold(t.holds.placed)} />
          </li>
        ))}
      </ol>
      <Pager pagination={answer.pagination} onPage={setPage} />
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
    <article class="card wide" aria-label={title} tabIndex={-1}>
      <div class="head">
        <h2>{title}</h2>
        <span class="small">
          {t.review.weight(flag.weight, flag.first_day === flag.last_day ? format.date(flag.last_day) : t.review.days(format.date(flag.first_day), format.date(flag.last_day)))}
        </span>
      </div>
      <p>
        <HotspotLink id={flag.hotspot_id} /> <span class="small">{t.review.of}</span> <User id={flag.operator_id} />
        {flag.count > 1 && (
          <>
            {" · "}
            <a href={`#/staff/review?operator=${flag.operator_id}`}>{t.review.more(flag.count - 1, format.count(flag.count - 1))}</a>
          </>
        )}
      </p>
      <p class="hint">{text}</p>
      <Facts of={[...(rewardsOn() ? [[t.review.atStake, <Credits amount={flag.at_stake} />] as Fact] : []), ...flag.facts.map(({ name, value }): Fact => [t.review.fact(name), measured(name, value)])]} />
      {flag.group && <Group of={flag.group} />}
      <div class="line">
        <a class="button" href={`#/visits/${flag.hotspot_id}`}>
          {t.review.visit}
        </a>
        <a class="quiet" href={`#/map/${flag.hotspot_id}`}>
          {t.review.map}
        </a>
        {toggle("dismiss", t.review.dismiss)}
        {rewardsOn() && session.may("holds") && toggle("hold", t.review.hold)}
      </div>
      {opened === "dismiss" && (
        <ReasonForm
          path={`/v1/review/${flag.count > 1 ? flag.operator_id : flag.hotspot_id}/${flag.kind}`}
          hint={t.review.hint}
          verb={flag.count > 1 ? t.review.dismissAll(format.count(flag.count)) : t.review.dismissIt}
          button="button"
          onDone={onDismissed}
        />
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

/** The hotspots that a flag is about, by account. */
function Group({ of }: { of: NonNullable<Flag["group"]> }) {
  const accounts = [...new Set(of.map((member) => member.operator_id))];
  return (
    <details>
      <summary>{t.review.group(format.count(of.length), format.count(accounts.length))}</summary>
      <ul>
        {accounts.map((account) => (
          <li key={account}>
            <User id={account} />
            {of
              .filter((member) => member.operator_id === account)
              .map((member) => (
                <span key={member.hotspot_id}>
                  {" · "}
                  <HotspotLink id={member.hotspot_id} name="" />
                </span>
              ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A fact of a flag, in the unit that its name has. */
function measured(name: string, value: number): string {
  if (name.endsWith("_m")) return format.metres(value);
  if (name.endsWith("_mbps")) return t.review.bandwidth(format.count(value));
  return name.includes("bytes") ? format.traffic(value / 1e9) : format.count(value);
}
