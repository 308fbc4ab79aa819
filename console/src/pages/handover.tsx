// Hotspots that change hands: the offer of one's own, offers of others, and those that nobody looks after.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { bounds } from "../bounds";
import * as format from "../format";
import { changes } from "../live";
import { t } from "../messages";
import { Field } from "../parts/field";
import { ErrorNote, faultAt, useFaults } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot, ListedOffer } from "../types";

const receiver = "to_user_id";
const offerOf = (id: string): string => `/v1/hotspots/${encodeURIComponent(id)}/offer`;

/** On the page of a hotspot: offers it to another account, or shows that it is on offer. */
export function HandOver({ hotspot }: { hotspot: Hotspot }) {
  const path = offerOf(hotspot.id);
  const { answer, error, reload } = useAsk<ListedOffer[]>(`/v1/users/${encodeURIComponent(hotspot.operator_id ?? "me")}/offers`, useCell(changes));
  const offer = answer?.data.find(({ hotspot_id }) => hotspot_id === hotspot.id);
  const offers = session.may("hand_over") && hotspot.operator_id === session.who.value?.user_id; // for others there is Claim
  if (!offer && !offers && !error) return null;
  return (
    <section class="card" id="hand-over">
      <h2>{t.handOver.title}</h2>
      <ErrorNote error={error} />
      {offer && <Offered offer={offer} path={path} onEnded={reload} />}
      {answer && !offer && offers && <OfferForm hotspot={hotspot} path={path} onOffered={reload} />}
    </section>
  );
}

/** An offer that can be withdrawn. */
function Offered({ offer, path, onEnded }: { offer: ListedOffer; path: string; onEnded: () => void }) {
  const { busy, error, run } = useDoing();
  const withdraw = (): void => {
    if (!confirm(t.handOver.confirmWithdraw)) return;
    run(async () => {
      await ask(path, { method: "DELETE" });
      onEnded();
    });
  };
  return (
    <>
      <p class="note" role="status">
        <span>{offer.to_user_id ? t.handOver.offeredTo(<code class="id">{offer.to_user_id}</code>) : t.handOver.offeredByCode}</span>{" "}
        <span>{t.handOver.until(format.time(offer.expires_at))}</span> {offer.by_staff && <span>{t.handOver.byStaff}</span>}
      </p>
      <ErrorNote error={error} />
      <button type="button" class="quiet" disabled={busy} onClick={withdraw}>
        {t.handOver.withdraw}
      </button>
    </>
  );
}

function OfferForm({ hotspot, path, onOffered }: { hotspot: Hotspot; path: string; onOffered: () => void }) {
  const [open, setOpen] = useState(false);
  const [to, setTo] = useState("");
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    if (!confirm(t.handOver.confirm(hotspot.name, to.trim()))) return;
    await ask(path, { method: "POST", body: { [receiver]: to.trim() } });
    onOffered();
  });
  return (
    <>
      <p>{t.handOver.about}</p>
      {!open && (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          {t.handOver.begin}
        </button>
      )}
      {open && (
        <form onSubmit={send} noValidate>
          <AccountField hint={t.handOver.accountHint} value={to} error={error} onInput={setTo} />
          <div class="note">
            <p>
              <strong>{t.handOver.means}</strong>
            </p>
            <ul>
              <li>{t.handOver.atOnce}</li>
              <li>{t.handOver.stays}</li>
              {session.paid && <li>{t.handOver.earned}</li>}
              <li>{t.handOver.week}</li>
            </ul>
          </div>
          {!faultAt(error, receiver) && <ErrorNote error={error} />}
          <div class="line">
            <button type="submit" class="button" disabled={busy || to.trim() === ""}>
              {t.handOver.submit}
            </button>
            <button type="button" class="quiet" onClick={() => setOpen(false)}>
              {t.words.cancel}
            </button>
          </div>
        </form>
      )}
    </>
  );
}

function AccountField({ hint, value, error, onInput }: { hint: string; value: string; error: unknown; onInput: (value: string) => void }) {
  const faults = useFaults(error);
  return (
    <Field
      label={t.handOver.account}
      name="to-account"
      autoComplete="off"
      spellcheck={false}
      hint={hint}
      value={value}
      onInput={(event) => {
        faults.touch(receiver);
        onInput(event.currentTarget.value);
      }}
      fault={faults.at(receiver)}
    />
  );
}

/** The hotspots that others offer to the account that one acts for. */
export function OffersReceived({ onTaken }: { onTaken?: () => void }) {
  const { answer, error, reload } = useAsk<ListedOffer[]>(session.hasAccount && !session.assigned ? "/v1/users/me/offers" : null, useCell(changes));
  const [told, setTold] = useState("");
  const doing = useDoing();
  const account = session.who.value?.user_id;
  const offers = answer?.data.filter(({ to_user_id: to }) => to === account) ?? [];
  const takes = session.mayFor("hotspots", account);
  const end = (question: string, work: () => Promise<unknown>, done: string): void => {
    if (!confirm(question)) return;
    doing.run(async () => {
      await work();
      setTold(done);
      reload();
      onTaken?.();
    });
  };
  if (offers.length === 0 && !told && !error) return null;
  return (
    <section class="card wide" id="offers">
      <h2>{t.offers.title}</h2>
      <p role="status">{told}</p>
      <ErrorNote error={error} />
      <ErrorNote error={doing.error} />
      {offers.length > 0 && <p class="hint">{takes ? t.offers.about : t.offers.notYou}</p>}
      {offers.length > 0 && (
        <ul class="list">
          {offers.map(({ hotspot_id: id, name, type, by_staff: byStaff, expires_at: until }) => (
            <li key={id} class="row">
              <span class="row-main">
                <a class="name" href={`#/hotspots/${id}`}>
                  {name}
                </a>
                <span class="small">{[t.type[type], t.handOver.until(format.time(until)), byStaff && t.handOver.byStaff].filter(Boolean).join(" · ")}</span>
              </span>
              {takes && (
                <span class="line">
                  <button
                    type="button"
                    class="button"
                    disabled={doing.busy}
                    aria-label={t.offers.acceptOne(name)}
                    onClick={() => end(t.offers.confirmAccept(name), () => ask(`${offerOf(id)}/acceptance`, { method: "POST", body: {} }), t.offers.taken(name))}
                  >
                    {t.offers.accept}
                  </button>
                  <button
                    type="button"
                    class="quiet"
                    disabled={doing.busy}
                    aria-label={t.offers.declineOne(name)}
                    onClick={() => end(t.offers.confirmDecline(name), () => ask(offerOf(id), { method: "DELETE" }), t.offers.declined(name))}
                  >
                    {t.offers.decline}
                  </button>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** For verifiers: offers a hotspot whose operator is gone to someone who asks for it. */
export function Claim({ hotspot, onDone }: { hotspot: Hotspot; onDone: () => void }) {
  const [to, setTo] = useState("");
  const [reason, setReason] = useState("");
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    await ask(`/v1/hotspots/${hotspot.id}/claim`, { method: "POST", body: { [receiver]: to.trim(), reason } });
    setTo("");
    setReason("");
    onDone();
  });
  return (
    <details>
      <summary>{t.claim.title}</summary>
      <form class="inset" onSubmit={send} noValidate>
        <p>{t.claim.about}</p>
        <AccountField hint={t.handOver.accountHint} value={to} error={error} onInput={setTo} />
        <Field
          label={t.words.reason}
          name="claim-reason"
          hint={t.claim.reasonHint}
          maxLength={bounds.Reason.most}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
          fault={faultAt(error, "reason")}
        />
        <ErrorNote error={error} at={[receiver, "reason"]} />
        <button type="submit" class="quiet" disabled={busy || to.trim() === ""}>
          {t.claim.submit}
        </button>
      </form>
    </details>
  );
}
