// Who is around a place?
import { useEffect, useRef, useState } from "preact/hooks";
import * as format from "../format";
import { changes } from "../live";
import { t } from "../messages";
import { Choice } from "../parts/field";
import { mapView, wasEmpty } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { StatusBadge } from "../parts/status";
import { useAsk } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { HotspotSummary, Place } from "../types";

interface Props {
  place: Place | null;
  onPlace: (place: Place) => void;
  onChoose: (id: string, at: Place) => void;
}

const statuses: [string, string][] = [
  ["all", t.words.all],
  ["online", t.status.online],
  ["offline", t.status.offline],
];
const most = 20; // that are listed
const first = 3; // that are brought into sight

export function Nearby({ place, onPlace, onChoose }: Props) {
  const view = useCell(mapView);
  const version = useCell(changes);
  const empty = useCell(wasEmpty) && version === 0; // nothing has changed since
  const [status, setStatus] = useState("all");
  const path = place && `/v1/hotspots/nearby?lat=${place.lat}&lng=${place.lng}&radius=2000&limit=${most}&status=${status}`;
  const { answer, error, loading } = useAsk<HotspotSummary[]>(path, version);
  const list = useRef<HTMLUListElement>(null);
  const shown = useRef(place);
  useEffect(() => {
    view?.mark(place);
    return () => view?.mark(null);
  }, [view, place]);
  const found = answer?.data;
  useEffect(() => {
    if (loading || shown.current === place) return;
    shown.current = place;
    const rows = list.current?.children;
    rows?.[Math.min(first, rows.length) - 1]?.scrollIntoView({ block: "nearest" }); // on a phone they begin below the fold
  }, [loading, place]);
  return (
    <section>
      <p class="hint">{empty ? t.nearby.empty((text) => <a href="#/register">{text}</a>, (text) => (session.may("settings") ? <a href="#/staff/settings">{text}</a> : text)) : t.nearby.hint}</p>
      <div class="line">
        <Choice label={t.words.show} value={status} options={statuses} onChange={setStatus} />
        <button type="button" class="quiet" onClick={() => view && onPlace(view.center())}>
          {t.nearby.centre}
        </button>
      </div>
      <ErrorNote error={error} />
      <p class="small" role="status">
        {found && tell(found.length)}
      </p>
      <ul class="list" aria-label={t.nearby.list} ref={list}>
        {found?.map((hotspot) => (
          <li key={hotspot.id}>
            <button type="button" class="row" onClick={() => onChoose(hotspot.id, hotspot.location)}>
              <span class="row-main">
                <span class="name">{hotspot.name}</span>
                <span class="small">
                  {t.nearby.row(format.metres(hotspot.distance_m), format.percent(hotspot.current_load), t.signal[hotspot.signal_quality])}
                </span>
              </span>
              <StatusBadge status={hotspot.status} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function tell(found: number): string {
  if (found === 0) return t.nearby.none;
  if (found === most) return t.nearby.most(most);
  return t.nearby.found(found);
}
