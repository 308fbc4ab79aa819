// Where everyone's map begins: what admins last saw on it, or where the network is.
import { ask } from "../api";
import { t } from "../messages";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import type { Sight } from "../sight";
import { useCell } from "../state";
import type { NetworkSettings } from "../types";

const path = "/v1/settings";
const decimals = { place: 1e5, zoom: 100 }; // as the map's address has them

/** As it is sent: what a map shows needs no millimetres. */
function rounded({ lat, lng, zoom }: Sight): Sight {
  const to = (value: number, of: number): number => Math.round(value * of) / of;
  return { lat: to(lat, decimals.place), lng: to(lng, decimals.place), zoom: to(zoom, decimals.zoom) };
}

export function StartView() {
  const view = useCell(mapView);
  const { answer, error, reload } = useAsk<NetworkSettings>(path);
  const { busy, error: failed, run } = useDoing();
  const is = answer?.data.start_view;
  const set = (start_view: Sight | null): void =>
    run(async () => {
      await ask(path, { method: "PATCH", body: { start_view } });
      reload();
    });
  return (
    <section class="card" id="start-view">
      <h2>{t.startView.title}</h2>
      <p>{t.startView.about((text) => <a href="#/map">{text}</a>)}</p>
      <ErrorNote error={error} />
      <ErrorNote error={failed} />
      {answer && <p role="status">{is ? t.startView.is(is.lat.toFixed(3), is.lng.toFixed(3), is.zoom.toFixed(1)) : t.startView.unset}</p>}
      {(view || is) && (
        <div class="line">
          {view && (
            <button type="button" class="button" disabled={busy || !answer} onClick={() => set(rounded(view.sight.value))}>
              {t.startView.use}
            </button>
          )}
          {is && (
            <button type="button" class="quiet" disabled={busy} onClick={() => set(null)}>
              {t.startView.clear}
            </button>
          )}
        </div>
      )}
    </section>
  );
}
