// A hotspot at another place: with a pin on the map, and what it costs said beforehand.
import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { bounds } from "../bounds";
import * as format from "../format";
import { distance, parsePlace, roundPlace } from "../geo";
import { t } from "../messages";
import { Field } from "../parts/field";
import { mapView, useMapClick } from "../parts/maphost";
import { ErrorNote, faultAt } from "../parts/note";
import { Panel } from "../parts/panel";
import { Search } from "../parts/search";
import { useAsk, useDoing } from "../parts/use";
import { go, route } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot, Place } from "../types";
import { CoordinateField } from "./whatif";

export function MovePage({ id }: { id: string }) {
  const view = useCell(mapView);
  const { answer, error, reload } = useAsk<Hotspot>(`/v1/hotspots/${encodeURIComponent(id)}`);
  useEffect(() => view?.show({ kind: "network" }), [view]);
  const hotspot = answer?.data;
  const may = session.mayFor("hotspots", hotspot?.operator_id);
  return (
    <Panel title={t.move.panel} about={id}>
      <p>
        <a href={`#/hotspots/${id}`}>{hotspot?.name ?? t.hotspot.title}</a>
      </p>
      <h1>{hotspot ? t.move.title(hotspot.name) : t.move.panel}</h1>
      <ErrorNote error={error} />
      {hotspot && !may && <p class="note">{t.move.notYours}</p>}
      {hotspot && may && <Move key={answer.etag} hotspot={hotspot} etag={answer.etag} onStale={reload} />}
    </Panel>
  );
}

/** What is moved less is not moved: a pin is no more exact. */
const nowhere = 0.5;

function Move({ hotspot, etag, onStale }: { hotspot: Hotspot; etag: string | null; onStale: () => void }) {
  const view = useCell(mapView);
  const registered: Place = { lat: hotspot.location.lat, lng: hotspot.location.lng };
  const proposed = parsePlace(route.value.query["to"] ?? "");
  const [place, setPlace] = useState<Place>(proposed ?? registered);
  const [address, setAddress] = useState(hotspot.location.address ?? "");
  const { busy, error, submit } = useDoing();
  const away = distance(registered, place);
  const metres = format.metres(away);
  const { verified, unverified_reason } = hotspot.location;

  useEffect(() => {
    view?.mark(registered);
    view?.fly(place, 17);
    return () => view?.mark(null);
  }, [view]);
  useMapClick(setPlace);
  useEffect(() => {
    view?.draft({ ...place, radius_m: hotspot.coverage_radius_m }, setPlace);
  }, [view, place]);
  useEffect(() => () => view?.draft(null), [view]);

  const send = submit(async () => {
    if (!confirm(verified ? t.move.confirm(hotspot.name, metres) : t.move.confirmWaiting(hotspot.name, metres))) return;
    await ask(`/v1/hotspots/${hotspot.id}`, {
      method: "PATCH",
      body: { location: { ...roundPlace(place), address } },
      headers: etag ? { "If-Match": etag } : {},
    });
    go(`/hotspots/${hotspot.id}`);
  });
  return (
    <>
      <p class="hint">{t.move.hint}</p>
      <Search
        candidates={[]}
        onText={() => undefined}
        onPick={(found) => {
          setPlace({ lat: found.lat, lng: found.lng });
          view?.fly(found, 17);
        }}
        hint={t.move.search}
        nothing={t.move.searchNothing}
      />
      <form onSubmit={send} noValidate>
        <div class="line">
          <CoordinateField label={t.words.latitude} value={place.lat} most={bounds.Latitude.most} onChange={(lat) => setPlace({ ...place, lat })} />
          <CoordinateField label={t.words.longitude} value={place.lng} most={bounds.Longitude.most} onChange={(lng) => setPlace({ ...place, lng })} />
        </div>
        <Field
          label={t.move.address}
          name="address"
          value={address}
          onInput={(event) => setAddress(event.currentTarget.value)}
          fault={faultAt(error, "location.address")}
        />
        <p role="status">{away < nowhere ? t.move.atStart : proposed && place === proposed ? t.move.found(metres) : t.move.away(metres)}</p>
        <div class="note">
          <p>
            <strong>{t.move.cost}</strong>
          </p>
          <ul>
            <li>{verified ? t.move.unverifies : t.move.stillWaits}</li>
            {(verified || unverified_reason) && <li>{t.move.standing}</li>}
            {(verified || unverified_reason) && <li>{t.move.anew}</li>}
            <li>{t.move.keeps}</li>
          </ul>
        </div>
        <ErrorNote error={error} at={["location.address"]} />
        {error instanceof ApiError && error.code === "conflict" && (
          <button type="button" class="quiet" onClick={onStale}>
            {t.move.reload}
          </button>
        )}
        <div class="line">
          <button type="submit" class="button" disabled={busy || away < nowhere}>
            {busy ? t.move.moving : t.move.submit}
          </button>
          {away >= nowhere && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                setPlace(registered);
                view?.fly(registered, 17);
              }}
            >
              {t.move.back}
            </button>
          )}
          <a class="quiet" href={`#/hotspots/${hotspot.id}`}>
            {t.register.cancel}
          </a>
        </div>
      </form>
    </>
  );
}
