// A policy tried on the past, for admins: who would have gained and lost.
import { useEffect, useRef, useState } from "preact/hooks";
import { isAbort, readStream } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { Choice, Field } from "../parts/field";
import { User } from "../parts/named";
import { ErrorNote, faultAt } from "../parts/note";
import { saveCSV } from "../parts/save";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { change, daysIn, extremes, formOf, ofPlaces, replayCSV, termNames, termsInFile, termsOf, type Terms } from "../replay";
import type { Bookkeeping, Replay } from "../types";
import { Desk } from "./staff";

export function PolicyPage() {
  return (
    <Desk at="/policy" title={t.staff.policy} needs="policy_trials">
      <p class="hint">{t.replay.about((text) => <a href="/docs/rewards#try-a-policy-on-the-past">{text}</a>)}</p>
      <Asked />
    </Desk>
  );
}

function Asked() {
  const { answer, error } = useAsk<Bookkeeping>("/v1/rewards/months?months=1");
  if (!answer) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const { closed_through: through, newest_policy: newest } = answer.data;
  if (!through) return <p role="status">{t.months.noneClosed}</p>;
  return <Attempt through={through} newest={termsOf(newest)} />;
}

const choices: [string, string][] = [
  ["other", t.replay.other],
  ["", t.replay.inForce],
];

function Attempt({ through, newest }: { through: string; newest: Terms }) {
  const [from, setFrom] = useState(through);
  const [to, setTo] = useState(through);
  const [other, setOther] = useState(true);
  const [terms, setTerms] = useState(newest);
  const [unread, setUnread] = useState(false);
  const [days, setDays] = useState(0);
  const [replay, setReplay] = useState<Replay>();
  const { busy, error, submit } = useDoing();
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const total = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1 || 1);
  const send = submit(async () => {
    const stop = new AbortController();
    running.current = stop;
    setDays(0);
    setReplay(undefined);
    try {
      const options = { method: "POST", body: formOf(from, to, other ? terms : null), signal: stop.signal } as const;
      setReplay(await readStream<Replay>("/v1/rewards/replays", options, (text) => setDays(daysIn(text))));
    } catch (failure) {
      if (!isAbort(failure)) throw failure;
    }
  });
  const read = async (file: File | undefined): Promise<void> => {
    const found = file ? termsInFile(await file.text()) : null;
    setUnread(!found);
    if (found) setTerms(found);
  };
  return (
    <>
      <section class="card wide">
        <form onSubmit={send} noValidate>
          <div class="terms">
            <Field label={t.replay.from} name="from" type="date" max={through} value={from} onInput={(event) => setFrom(event.currentTarget.value)} fault={faultAt(error, "from")} />
            <Field label={t.replay.to} name="to" type="date" max={through} value={to} onInput={(event) => setTo(event.currentTarget.value)} fault={faultAt(error, "to")} />
          </div>
          <Choice label={t.replay.policy} name="policy" value={other ? "other" : ""} options={choices} onChange={(value) => setOther(value !== "")} />
          {other && (
            <fieldset>
              <legend>{t.replay.terms}</legend>
              <Field
                label={t.replay.file}
                name="file"
                type="file"
                accept=".json,application/json"
                hint={t.replay.fileHint}
                fault={unread ? t.replay.unread : ""}
                onChange={(event) => void read(event.currentTarget.files?.[0])}
              />
              <div class="terms">
                {termNames.map((name) => (
                  <Field
                    key={name}
                    label={t.replay.term[name]}
                    name={name}
                    inputMode="decimal"
                    autoComplete="off"
                    hint={name === "standing_minutes_a_day" ? t.replay.onlyMinutes : (ofPlaces as readonly string[]).includes(name) ? t.replay.onlyPlaces : ""}
                    value={terms[name]}
                    onInput={(event) => setTerms({ ...terms, [name]: event.currentTarget.value })}
                    fault={faultAt(error, `policy.${name}`)}
                  />
                ))}
              </div>
            </fieldset>
          )}
          <ErrorNote error={error} at={["from", "to", ...termNames.map((name) => `policy.${name}`)]} />
          <div class="line">
            <button type="submit" class="button" disabled={busy}>
              {t.replay.start}
            </button>
            {busy && (
              <button type="button" class="quiet" onClick={() => running.current?.abort()}>
                {t.replay.stop}
              </button>
            )}
          </div>
        </form>
        {busy && (
          <p>
            <progress value={days} max={total} aria-label={t.replay.progress} /> {t.replay.done(days, total)}
          </p>
        )}
      </section>
      {replay && <Outcome replay={replay} />}
    </>
  );
}

const signed = (amount: number): string => {
  const size = Math.abs(amount);
  return `${amount > 0 ? "+" : amount < 0 ? "−" : ""}${size > 0 && size < 0.01 ? format.exact(size) : format.credits(size)}`;
};
const mostShown = 10;

function Outcome({ replay }: { replay: Replay }) {
  const { gain, lose } = extremes(replay.operators, mostShown);
  const largest = Math.max(1, ...replay.groups.map(({ operators }) => operators));
  const parts = ["availability", "performance", "utilization"] as const;
  const row = (name: string, was: number, is: number) => (
    <tr key={name}>
      <th scope="row">{name}</th>
      <td class="number spare">{format.credits(was)}</td>
      <td class="number">{format.credits(is)}</td>
      <td class="number">{signed(change({ earned: was, replayed: is }))}</td>
    </tr>
  );
  const columns = (first: string): [string, string?][] => [[first], [t.words.earned, "number spare"], [t.replay.replayed, "number"], [t.replay.change, "number"]];
  return (
    <section class="card wide" aria-label={t.replay.outcome}>
      <p role="status">
        {t.replay.rows(format.count(replay.rows), format.count(replay.operators.length))}{" "}
        {replay.different_rows === 0 ? t.replay.same : t.replay.different(format.count(replay.different_rows))}
      </p>
      {replay.unvisited_hotspots > 0 && <p class="note">{t.replay.unvisited(replay.unvisited_hotspots, format.count(replay.unvisited_hotspots))}</p>}
      {replay.first_difference && <p class="note bad">{replay.first_difference}</p>}
      <Table label={t.replay.totals} columns={columns(t.replay.credits)} foot={row(t.replay.total, replay.earned, replay.replayed)}>
        {parts.map((part) => row(t.replay.part[part], replay.breakdown[part], replay.replayed_breakdown[part]))}
      </Table>
      {replay.different_rows > 0 && (
        <>
          <h2>{t.replay.groups}</h2>
          <Table label={t.replay.groups} columns={[[t.replay.change], [t.staff.operators, "number"], [t.replay.share]]}>
            {replay.groups.map(({ group, operators }) => (
              <tr key={group}>
                <th scope="row">{t.replay.group[group]}</th>
                <td class="number">{format.count(operators)}</td>
                <td>
                  <progress value={operators} max={largest} aria-label={t.replay.group[group]} />
                </td>
              </tr>
            ))}
          </Table>
          {([[t.replay.gainMost, gain], [t.replay.loseMost, lose]] as const).map(
            ([name, list]) =>
              list.length > 0 && (
                <div key={name}>
                  <h2>{name}</h2>
                  <Table label={name} columns={columns(t.replay.operator)}>
                    {list.map((o) => (
                      <tr key={o.user_id}>
                        <th scope="row">
                          <User id={o.user_id} />
                        </th>
                        <td class="number spare">{format.credits(o.earned)}</td>
                        <td class="number">{format.credits(o.replayed)}</td>
                        <td class="number">{signed(change(o))}</td>
                      </tr>
                    ))}
                  </Table>
                </div>
              ),
          )}
        </>
      )}
      <div class="line">
        <button type="button" class="quiet" onClick={() => saveCSV(`replay-${replay.from}-${replay.to}.csv`, replayCSV(replay))}>
          {t.replay.save}
        </button>
      </div>
    </section>
  );
}
