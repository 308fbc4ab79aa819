// Where staff go: hotspots that wait for a visit, on the map, and one that is visited.
import { useEffect, useState } from "preact/hooks";
import * as format from "../format";
import { distance } from "../geo";
import { changes } from "../live";
import { t } from "../messages";
import { Facts } from "../parts/facts";
import { mapView } from "../parts/maphost";
import { User } from "../parts/named";
import { Lacks } from "../parts/lacks";
import { ErrorNote } from "../parts/note";
import { Panel } from "../parts/panel";
import { ReasonForm } from "../parts/reason";
import { StatusBadge } from "../parts/status";
import { useAsk, useDoing } from "../parts/use";
import { direction, mapsOf, position, type Position } from "../position";
import { go } from "../router";
import { session } from "../session";
import { Cell, useCell } from "../state";
import type { Hotspot, HotspotListed, Place } from "../types";
import { whereIs } from "./card";
import { Claim } from "./handover";
import { VerifyForm } from "./verifications";

const most = 100; // that are listed
const toVisit = `/v1/hotspots?verified=false&rejected=false&per_page=${most}`;
const here = new Cell<Position | null>(null); // is kept from one visit to the next

export function VisitsPage({ id }: { id: string }) {
  const view = useCell(mapView);
  useEffect(() => view?.show({ kind: "network" }), [view]);
  if (!session.may("visits")) {
    return (
      <Panel title={t.app.visits}>
        <h1>{t.app.visits}</h1>
        <Lacks of="visits" />
      </Panel>
    );
  }
  return (
    <Panel title={t.app.visits} about={id}>
      {id ? <Visit key={id} id={id} /> : <Waiting />}
    </Panel>
  );
}

/** Those that wait, the nearest first once it is known where we are. */
function Waiting() {
  const view = useCell(mapView);
  const at = useCell(here);
  const { answer, error } = useAsk<HotspotListed[]>(toVisit, useCell(changes));
  const found = answer?.data;
  useEffect(() => {
    if (!view || !found) return;
    view.points(
      found.map(({ id, name, location }) => ({ ...location, id, name })),
      (id) => go(`/visits/${id}`),
    );
    view.ensure(found.map(({ location }) => location));
    return () => view.points([]);
  }, [view, found]);
  const sorted = at ? [...(found ?? [])].sort((a, b) => distance(at, a.location) - distance(at, b.location)) : found;
  return (
    <section>
      <p>
        <a href="#/staff/verifications">{t.staff.verifications}</a>
      </p>
      <h1>{t.app.visits}</h1>
      <WhereAmI />
      <ErrorNote error={error} />
      <p class="small" role="status">
        {answer && tell(answer.pagination?.total ?? 0, at)}
      </p>
      <ul class="list" aria-label={t.visits.list}>
        {sorted?.map((hotspot) => (
          <li key={hotspot.id}>
            <a class="row" href={`#/visits/${hotspot.id}`}>
              <span class="row-main">
                <span class="name">{hotspot.name}</span>
                <span class="small">
                  {[t.type[hotspot.type], at && away(at, hotspot.location), hotspot.location.address].filter(Boolean).join(" · ")}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function tell(total: number, at: Position | null): string {
  if (total === 0) return t.visits.none;
  const count = format.count(total);
  if (total > most) return at ? t.visits.someNearest(count, most) : t.visits.someOldest(count, most);
  return at ? t.visits.nearest(total, count) : t.visits.oldest(total, count);
}

const away = (from: Place, to: Place): string => t.visits.away(format.metres(distance(from, to)), direction(from, to));

function WhereAmI() {
  const at = useCell(here);
  const { busy, error, run } = useDoing();
  if (!("geolocation" in navigator)) return null;
  return (
    <>
      <button type="button" class="quiet" disabled={busy} onClick={() => run(async () => void (here.value = await position()))}>
        {at ? t.visits.measureAgain : t.visits.measure}
      </button>
      <ErrorNote error={error} />
    </>
  );
}

/** After one visit, where to go: to the nearest if it is known where we are, else to the one that waits longest. */
function Next({ after }: { after: string }) {
  const at = useCell(here);
  const { answer } = useAsk<HotspotListed[]>(toVisit);
  if (!answer) return null;
  const others = answer.data.filter(({ id }) => id !== after);
  const to = at ? [...others].sort((a, b) => distance(at, a.location) - distance(at, b.location))[0] : others[0];
  if (!to) return <p class="hint">{t.visits.noNext}</p>;
  return (
    <p class="line">
      <a class="button" href={`#/visits/${to.id}`}>
        {t.visits.next(to.name)}
      </a>
      {at && <span class="small">{away(at, to.location)}</span>}
    </p>
  );
}

function Visit({ id }: { id: string }) {
  const view = useCell(mapView);
  const at = useCell(here);
  const [told, setTold] = useState("");
  const { answer, error, reload } = useAsk<Hotspot>(`/v1/hotspots/${encodeURIComponent(id)}`);
  const hotspot = answer?.data;
  const place = hotspot?.location;
  useEffect(() => {
    if (!place) return;
    view?.mark(place);
    view?.fly(place, 16);
    return () => view?.mark(null);
  }, [view, place?.lat, place?.lng]);
  const done = (what: string): void => {
    setTold(what);
    reload();
  };
  return (
    <section>
      <p>
        <a href="#/visits">{t.app.visits}</a>
      </p>
      {!hotspot && <h1>{t.visits.visit}</h1>}
      <ErrorNote error={error} />
      {hotspot && (
        <>
          <div class="head">
            <h1>{hotspot.name}</h1>
            <StatusBadge status={hotspot.status} />
          </div>
          <Facts
            of={[
              [t.words.type, t.type[hotspot.type]],
              hotspot.location.address && [t.words.address, hotspot.location.address],
              [t.words.location, whereIs(hotspot.location)],
              at && [t.visits.fromHere, away(at, hotspot.location)],
              hotspot.operator_id && [t.visits.operator, <User id={hotspot.operator_id} />],
              hotspot.location.unverified_reason && [t.visits.notVerified, hotspot.location.unverified_reason],
            ]}
          />
          <div class="line">
            <a class="quiet" href={mapsOf(hotspot.location)}>
              {t.visits.route}
            </a>
            <WhereAmI />
          </div>
          <p role="status">{told}</p>
          {told && <Next after={id} />}
          <VerifyForm hotspot={hotspot} onDone={() => done(t.visits.verified)} onTold={() => done(t.elsewhere.asked)} />
          <ReasonForm
            path={`/v1/hotspots/${hotspot.id}/verification`}
            hint={t.visits.reasonHint}
            verb={hotspot.location.verified ? t.visits.withdraw : t.visits.reject}
            button="quiet danger"
            onDone={() => done(t.visits.told)}
          />
          {hotspot.operator_id !== session.who.value?.user_id && <Claim hotspot={hotspot} onDone={() => setTold(t.claim.done)} />}
        </>
      )}
    </section>
  );
}
