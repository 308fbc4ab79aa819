// The map lives outside of the pages: to build it again for each would be slow.
import { useEffect, useRef, useState } from "preact/hooks";
import { MapView, type Hit } from "../map/view";
import { t } from "../messages";
import { route } from "../router";
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

export function MapHost({ hidden }: { hidden: boolean }) {
  const element = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState("");
  const begun = useRef(false);
  useEffect(() => {
    if (hidden || begun.current || !element.current) return;
    begun.current = true; // it takes a while, in which the page may be left and visited again
    MapView.create(element.current, route.value.sight).then(
      (view) => (mapView.value = view),
      () => {
        begun.current = false;
        setFailure(t.map.noWebGL);
      },
    );
  }, [hidden]);
  return (
    <section class="map-host" hidden={hidden} aria-label={t.map.label}>
      <div class="map" ref={element} />
      {failure && <p class="map-failure">{failure}</p>}
    </section>
  );
}
