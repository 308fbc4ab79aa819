// What would a hotspot at some window earn? For people who have no key yet.
import { useEffect } from "preact/hooks";
import * as format from "../format";
import { network } from "../head";
import { t } from "../messages";
import { useFeed } from "../parts/feed";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { useCalm, useDoing } from "../parts/use";
import { radii } from "../plan";
import { position } from "../position";
import { Cell, useCell } from "../state";
import type { Place } from "../types";

interface Estimate {
  free_ground: number;
  neighbours: number;
  most: number;
  expected: { low: number; high: number } | null;
}

/** Where the window is; null: nobody has said yet. */
export const pin = new Cell<Place | null>(null);

const settle = 200; // milliseconds without a move before the server is asked

export function Window() {
  const view = useCell(mapView);
  const at = useCell(pin);
  const { busy, error, run } = useDoing();
  useEffect(() => {
    view?.draft(at && { ...at, radius_m: radii.usual }, (to) => (pin.value = to));
  }, [view, at]);
  useEffect(() => () => view?.draft(null), [view]);
  const here = async (): Promise<void> => {
    const { lat, lng } = await position();
    pin.value = { lat, lng };
    view?.fly(pin.value);
  };
  return (
    <section>
      <h2>{t.window.title}</h2>
      <div class="verdict" role="status">
        {at && <Verdict at={at} />}
      </div>
      <p class="hint">{t.window.hint}</p>
      <div class="line">
        <button type="button" class="quiet" disabled={!view} onClick={() => (pin.value = view?.center() ?? null)}>
          {at ? t.window.toMiddle : t.words.placeAtCentre}
        </button>
        <button type="button" class="quiet" disabled={busy} onClick={() => run(here)}>
          {t.window.here}
        </button>
      </div>
      <ErrorNote error={error} />
      <p class="hint">{t.window.homes}</p>
      <a class="button" href={network.value.contact_link || "/docs/quickstart-operators"}>
        {t.window.join}
      </a>
    </section>
  );
}

function Verdict({ at }: { at: Place }) {
  const { lat, lng } = useCalm(at, settle);
  const estimate = useFeed<Estimate>(`/open/estimate?lat=${lat.toFixed(5)}&lng=${lng.toFixed(5)}`);
  if (!estimate) return <p class="small">{estimate === null ? t.window.none : t.words.wait}</p>;
  const { free_ground, neighbours, most, expected } = estimate;
  return (
    <>
      <p>
        <strong>{expected ? `${format.short(expected.low)}–${format.short(expected.high)}` : t.whatIf.atMost(format.short(most))}</strong> {t.window.credits}
      </p>
      <p class="small">
        {free_ground > 0.995 ? t.window.free : t.window.shared(format.percent(1 - free_ground))}{" "}
        {expected ? t.window.neighbours(neighbours, format.short(most)) : t.window.few}
      </p>
    </>
  );
}
