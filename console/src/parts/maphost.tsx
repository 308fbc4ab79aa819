// The map lives outside of the pages: to build it again for each would be slow.
import { useEffect, useRef, useState } from "preact/hooks";
import { MapView, type Hit } from "../map/view";
import { t } from "../messages";
import { route } from "../router";
import { session } from "../session";
import { findStart } from "../start";
import { Cell, useCell } from "../state";
import type { Place } from "../types";

/** The map, once there is one. */
export const mapView = new Cell<MapView | null>(null);

/** Hears of clicks on the map, anew when one of the values becomes another. */
export function useMapClick(onClick: (hit: Hit) => void, values: unknown[] = []): void {
  const view = useCell(mapView);
  useEffect(() => {
    if (!view) return;
    view.onClick = onClick;
    return () => (view.onClick = () => undefined);
  }, [view, ...values]);
}

/** Marks the hotspot that is shown beside the map, and brings it into sight, unless the address says what to show. */
export function useMarked(at: Place | undefined, approximate = false): void {
  const view = useCell(mapView);
  useEffect(() => {
    if (at) {
      view?.mark(at, approximate);
      if (!route.value.sight) view?.ensure([at]);
    }
    return () => view?.mark(null);
  }, [view, at?.lat, at?.lng]);
}

/** Whether the network had no hotspots when the map was drawn. */
export const wasEmpty = new Cell(false);

/** Draws the map where it begins, or where the address says. */
async function create(element: HTMLElement): Promise<void> {
  const start = await findStart();
  wasEmpty.value = start.empty === true;
  const { sight, id } = route.value;
  const view = await MapView.create(element, sight ? { view: sight } : start);
  if (!sight && !id) view.ensure(start.own ?? [], false);
  mapView.value = view;
}

/** Brings the map to where whoever signed in begins, unless it shows what was asked for. */
async function bring(): Promise<void> {
  const start = await findStart();
  wasEmpty.value = start.empty === true;
  const { sight, id } = route.value;
  if (!sight && !id) mapView.value?.begin(start);
}

export function MapHost({ hidden }: { hidden: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState("");
  const who = useCell(session.who);
  const begunFor = useRef<string | undefined>(undefined); // the user, or nobody
  useEffect(() => {
    const user = who?.user_id ?? "";
    if (hidden || who === undefined || begunFor.current === user || !element.current) return;
    const first = begunFor.current === undefined;
    begunFor.current = user; // it takes a while, in which the page may be left and visited again
    if (!first && !user) return; // whoever signed out stays where they were
    const begin = first ? create(element.current) : bring();
    begin.catch(() => {
      begunFor.current = undefined;
      setFailure(t.map.noWebGL);
    });
  }, [hidden, who]);
  return (
    <section class="map-host" hidden={hidden} aria-label={t.map.label}>
      <div class="map" ref={element} />
      {failure && <p class="map-failure">{failure}</p>}
    </section>
  );
}
