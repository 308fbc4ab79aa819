import { useEffect } from "preact/hooks";
import { keepSight, route } from "../router";
import { writeSight } from "../sight";
import { useCell } from "../state";
import { mapView } from "./maphost";

const settle = 250; // milliseconds without a move; browsers refuse an address that changes all the time

/** Keeps in the address what the map shows, to load it again and to pass it on; and goes to where another address says. */
export function useSightInAddress(): void {
  const view = useCell(mapView);
  const at = useCell(route);
  useEffect(() => {
    if (!view) return;
    if (at.sight && writeSight(at.sight) !== writeSight(view.sight.value)) view.look(at.sight);
    keepSight(view.sight.value);
  }, [view, at]);
  useEffect(() => {
    if (!view) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = view.sight.watch((sight) => {
      clearTimeout(timer);
      const address = location.hash;
      timer = setTimeout(() => {
        if (location.hash === address) keepSight(sight); // else someone has gone elsewhere since, and the map will follow
      }, settle);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [view]);
}
