// The nearest public hotspots, as a list: around the visitor, or the middle of the map.
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../clock";
import * as format from "../format";
import { networkStart } from "../head";
import { t } from "../messages";
import { nearestPath, placeOf, useFeed, type OpenHotspot, type OpenHotspots } from "../parts/feed";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { StatusBadge } from "../parts/status";
import { useCalm, useDoing } from "../parts/use";
import { directionsTo, position } from "../position";
import { Cell, useCell } from "../state";
import type { Place } from "../types";

const most = 20; // that are listed
const first = 3; // that are brought into sight with the visitor
const settle = 300; // milliseconds without a move before the server is asked

/** Where the visitor is, once they said so; null: the list is about the middle of the map. */
export const here = new Cell<Place | null>(null);

/** The middle of the map, or of the network where there is no map. */
export function useMiddle(): Place | null {
  const view = useCell(mapView);
  const [middle, setMiddle] = useState<Place | null>(null);
  useEffect(() => {
    if (!view) return;
    const moved = (): void => setMiddle(view.center());
    moved();
    return view.sight.watch(moved);
  }, [view]);
  return useCalm(middle, settle) ?? startMiddle();
}

function startMiddle(): Place | null {
  const { view, box } = networkStart();
  return view ?? (box ? { lat: (box[1] + box[3]) / 2, lng: (box[0] + box[2]) / 2 } : null);
}

interface Props {
  last: string; // the hotspot that was looked at before: who comes back from it goes on there
  onChoose: (id: string, at: Place) => void;
}

export function FindWifi({ last, onChoose }: Props) {
  const view = useCell(mapView);
  const at = useCell(here);
  const middle = useMiddle();
  const around = at ?? middle;
  const fresh = useFeed<OpenHotspots>(around && nearestPath(around, most));
  const [found, setFound] = useState<OpenHotspot[]>(); // what was found last stays until the next is there
  const { busy, error, run } = useDoing();
  const list = useRef<HTMLOListElement>(null);
  const back = useRef(last);
  const framed = useRef(at);
  useEffect(() => {
    if (!fresh) return;
    setFound(fresh.features);
    if (at && framed.current !== at) view?.frame([at, ...fresh.features.slice(0, first).map(placeOf)]);
    framed.current = at;
  }, [fresh]);
  useEffect(() => {
    if (!found || !back.current) return;
    list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(back.current)}"]`)?.focus();
    back.current = "";
  }, [found]);
  useEffect(() => {
    view?.mark(at);
    return () => view?.mark(null);
  }, [view, at]);
  return (
    <section>
      <div class="head">
        <h2>{t.find.title}</h2>
        {at ? (
          <button type="button" class="quiet" onClick={() => (here.value = null)}>
            {t.find.middle}
          </button>
        ) : (
          <button type="button" class="quiet" disabled={busy} onClick={() => run(async () => void (here.value = await position()))}>
            {t.find.me}
          </button>
        )}
      </div>
      <ErrorNote error={error} />
      <p class="small" role="status">
        {found && tell(found, at !== null)}
      </p>
      <ol class="list" aria-label={t.find.list} ref={list}>
        {found?.map((hotspot) => (
          <Row key={hotspot.properties.id} of={hotspot} from={at} onChoose={onChoose} />
        ))}
      </ol>
    </section>
  );
}

function tell(found: OpenHotspot[], aroundMe: boolean): string {
  const [nearest] = found;
  return nearest ? t.find.found(found.length, aroundMe, format.metres(nearest.properties.distance_m ?? 0)) : t.find.none;
}

function Row({ of, from, onChoose }: { of: OpenHotspot; from: Place | null; onChoose: Props["onChoose"] }) {
  const { id, name, ssid, status, distance_m, open_now, open_until, opens_at, timezone } = of.properties;
  return (
    <li class="found">
      <button type="button" class="row" data-id={id} onClick={() => onChoose(id, placeOf(of))}>
        <span class="row-main">
          <span class="name">{name ?? id}</span>
          <span class="small">{[format.metres(distance_m ?? 0), ssid].filter(Boolean).join(" · ")}</span>
          <span class="small state">
            <StatusBadge status={status} /> {format.opening(open_now, open_until ?? opens_at, timezone, now())}
          </span>
        </span>
      </button>
      <Directions name={name ?? id} to={placeOf(of)} from={from} />
    </li>
  );
}

/** A link that shows the way: in the maps of the phone, or on those of OpenStreetMap. */
export function Directions({ name, to, from, class: kind = "small" }: { name: string; to: Place; from: Place | null; class?: string }) {
  return (
    <a class={kind} href={directionsTo(to, from)} target="_blank" rel="noreferrer" aria-label={t.find.directionsTo(name)}>
      {t.find.directions}
    </a>
  );
}
