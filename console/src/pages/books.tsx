// What admins do to the books by hand: each form says what would happen first.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { t } from "../messages";
import { Choice, Field } from "../parts/field";
import { ErrorNote, faultAt } from "../parts/note";
import { Previewed } from "../parts/previewed";
import { Table } from "../parts/table";
import { useAsk, useDoing } from "../parts/use";
import { ofAll, policyOf, termNames, termsOf, type Terms } from "../replay";
import { session } from "../session";
import type { AdoptedPolicy, ReleasedMac, Reopening, RewardsClock, Settlement } from "../types";

export function BooksByHand({ onChange }: { onChange: () => void }) {
  return (
    <>
      <Clocks onChange={onChange} />
      {session.may("bookkeeping") && <Settle onChange={onChange} />}
      {session.may("bookkeeping") && <Reopen onChange={onChange} />}
      {session.may("policies") && <Adopt />}
      {session.may("accounts") && <ReleaseMac />}
    </>
  );
}

const post = async <T,>(path: string, body: unknown): Promise<T> => (await ask<T>(path, { method: "POST", body })).data;

function Clocks({ onChange }: { onChange: () => void }) {
  const { answer, error, reload } = useAsk<RewardsClock>("/v1/rewards/clock");
  const doing = useDoing();
  if (!answer) return error ? <ErrorNote error={error} /> : null;
  const { certain, waiting, first_open_day: first, clocks } = answer.data;
  const today = clocks[0]?.says.slice(0, 10) ?? "";
  const confirm = (): void =>
    doing.run(async () => {
      await post("/v1/rewards/clock", { today });
      reload();
      onChange();
    });
  return (
    <section class="card wide">
      <h2>{t.books.clock}</h2>
      <ErrorNote error={error} />
      <p role="status">{waiting && clocks[0] ? t.books.waits(format.date(today), clocks[0].closes_days, clocks[0].settles_months, format.date(first ?? "")) : t.books.nothingWaits}</p>
      <Table label={t.books.clocks} columns={[[t.books.clock], [t.books.says]]}>
        {certain && (
          <tr>
            <th scope="row">{t.books.certain}</th>
            <td>{format.time(certain)}</td>
          </tr>
        )}
        {clocks.slice(0, 20).map(({ name, says }) => (
          <tr key={name}>
            <th scope="row">{{ server: t.books.thisServer, database: t.books.database }[name] ?? format.shortId(name)}</th>
            <td>{format.time(says)}</td>
          </tr>
        ))}
      </Table>
      <ErrorNote error={doing.error} />
      {waiting && session.may("bookkeeping") && (
        <button type="button" class="button" disabled={doing.busy} onClick={confirm}>
          {t.books.confirm(format.date(today))}
        </button>
      )}
    </section>
  );
}

function Settle({ onChange }: { onChange: () => void }) {
  const [month, setMonth] = useState("");
  const [done, setDone] = useState<Settlement>();
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    setDone(undefined);
    setDone(await post<Settlement>(`/v1/rewards/months/${encodeURIComponent(month)}/settlement`, { early: true }));
    onChange();
  });
  return (
    <form class="card wide" onSubmit={send} noValidate>
      <h2>{t.books.settle}</h2>
      <p class="hint">{t.books.settleHint}</p>
      <Field label={t.words.month} name="month" placeholder="2026-10" maxLength={7} autoComplete="off" value={month} onInput={(event) => setMonth(event.currentTarget.value)} />
      <ErrorNote error={error} />
      <p role="status">{done ? t.books.settled(format.month(done.period), format.count(done.statements), format.credits(done.total_earned)) : ""}</p>
      <button type="submit" class="button" disabled={busy || !/^\d{4}-\d\d$/.test(month)}>
        {t.books.settleNow}
      </button>
    </form>
  );
}

function Reopen({ onChange }: { onChange: () => void }) {
  const [from, setFrom] = useState("");
  return (
    <Previewed<Reopening>
      title={t.books.reopen}
      hint={t.books.reopenHint}
      path="/v1/rewards/reopenings"
      body={{ from }}
      ready={from !== ""}
      faulty={["from"]}
      fields={(error) => (
        <Field label={t.books.firstDay} name="reopen-from" type="date" value={from} fault={faultAt(error, "from")} onInput={(event) => setFrom(event.currentTarget.value)} />
      )}
      look={t.books.preview}
      act={t.books.reopenNow}
      acted={({ through }) => ({ through })} // what was looked at, and no more
      told={(report) =>
        (report.confirmed ? t.books.reopened : t.books.wouldReopen)(format.date(report.from), format.date(report.through), format.count(report.rows), format.count(report.users), format.credits(report.total_earned))
      }
      details={({ largest }) =>
        largest.length > 0 && (
          <Table label={t.books.voidRows} columns={[[t.staff.operators], [t.books.rows, "number"], [t.words.earned, "number"]]}>
            {largest.map((user) => (
              <tr key={user.user_id}>
                <th scope="row">
                  <a href={`#/staff/operators/${user.user_id}`}>{format.shortId(user.user_id)}</a>
                </th>
                <td class="number">{format.count(user.rows)}</td>
                <td class="number">{format.credits(user.earned)}</td>
              </tr>
            ))}
          </Table>
        )
      }
      onDone={onChange}
    />
  );
}

const atFirst: Terms = {
  availability: "1",
  "performance.standard": "0",
  "performance.enhanced": "0.25",
  "performance.premium": "0.5",
  utilization_per_gb: "0.02",
  utilization_cap: "0.25",
  radius_m: "50",
  unproven_share: "0.5",
  standing_minutes_a_day: "600",
};

function Adopt() {
  const [from, setFrom] = useState("");
  const [kind, setKind] = useState("builtin");
  const [typed, setTyped] = useState(atFirst);
  const fields = kind === "builtin" ? [] : kind === "places" ? termNames : ofAll;
  return (
    <Previewed<AdoptedPolicy>
      title={t.books.adopt}
      hint={t.books.adoptHint}
      path="/v1/rewards/policies"
      body={{ from, policy: kind === "builtin" ? null : policyOf(typed, kind === "places") }}
      ready={from !== ""}
      faulty={["from"]}
      fields={(error) => (
        <>
          <div class="line">
            <Field label={t.books.firstDay} name="policy-from" type="date" value={from} fault={faultAt(error, "from")} onInput={(event) => setFrom(event.currentTarget.value)} />
            <Choice label={t.books.policy} name="policy" value={kind} options={Object.entries(t.books.kinds)} onChange={setKind} />
          </div>
          {[fields.slice(0, 4), fields.slice(4)].map((some, i) => (
            <div class="line" key={i}>
              {some.map((term) => (
                <Field
                  key={term}
                  label={t.replay.term[term]}
                  name={term}
                  inputMode="decimal"
                  maxLength={12}
                  autoComplete="off"
                  value={typed[term]}
                  onInput={(event) => setTyped({ ...typed, [term]: event.currentTarget.value })}
                />
              ))}
            </div>
          ))}
        </>
      )}
      look={t.books.compare}
      act={t.books.adoptNow}
      told={({ confirmed, policy, proven_through: proven }) => [
        (confirmed ? t.books.adopted : t.books.wouldAdopt)(policy.version, format.date(policy.effective_from)),
        proven && t.books.proven(format.date(proven)),
      ]}
      details={({ before, policy }) => (
        <Table label={t.books.changes} columns={[[t.books.policy], [String(before.version), "number"], [String(policy.version), "number"]]}>
          {termNames.map((term) => (
            <tr key={term}>
              <th scope="row">{t.replay.term[term]}</th>
              <td class="number">{termsOf(before)[term] || "–"}</td>
              <td class="number">{termsOf(policy)[term] || "–"}</td>
            </tr>
          ))}
        </Table>
      )}
    />
  );
}

function ReleaseMac() {
  const [mac, setMac] = useState("");
  const [reason, setReason] = useState("");
  const [done, setDone] = useState<ReleasedMac>();
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    setDone(undefined);
    setDone(await post<ReleasedMac>("/v1/macs/releases", { mac_address: mac, reason }));
  });
  return (
    <form class="card wide" onSubmit={send} noValidate>
      <h2>{t.books.mac}</h2>
      <p class="hint">{t.books.macHint}</p>
      <div class="line">
        <Field label={t.books.macAddress} name="mac" placeholder="02:00:5e:10:00:01" maxLength={17} autoComplete="off" value={mac} fault={faultAt(error, "mac_address")} onInput={(event) => setMac(event.currentTarget.value)} />
        <Field label={t.words.reason} name="mac-reason" maxLength={100} autoComplete="off" value={reason} fault={faultAt(error, "reason")} onInput={(event) => setReason(event.currentTarget.value)} />
      </div>
      <ErrorNote error={error} at={["mac_address", "reason"]} />
      <p role="status">{done ? t.books.released(done.mac_address, format.shortId(done.user_id)) : ""}</p>
      <button type="submit" class="button" disabled={busy}>
        {t.books.release}
      </button>
    </form>
  );
}
