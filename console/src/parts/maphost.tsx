// The map lives outside of the pages: to build it again for each would be slow.
import { useEffect, useRef, useState } from "preact/hooks";
import { MapView } from "../map/view";
import { t } from "../messages";
import { route } from "../router";
import { Cell } from "../state";

/** The map, once there is one. */
export const mapView = new Cell<MapView | null>(null);

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
