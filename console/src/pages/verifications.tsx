// Staff confirm that a hotspot stands where its operator said.
import { useEffect, useState } from "preact/hooks";
import { ask, isAbort } from "../api";
import * as format from "../format";
import { changes } from "../live";
import { home } from "../map/places";
import { Field } from "../parts/field";
import { mapView } from "../parts/maphost";
import { ErrorNote, faultAt } from "../parts/note";
import { useDoing } from "../parts/use";
import { findPending, type Pending } from "../pending";
import { useCell } from "../state";
import type { Bounds, Hotspot } from "../types";

export function Verifications() {
  const version = useCell(changes);
  const [box] = useState<Bounds>(() => mapView.value?.bounds() ?? home);
  const [again, setAgain] = useState(0);
  const [pending, setPending] = useState<Pending>();
  const [error, setError] = useState<unknown>();
  const [chosen, setChosen] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    findPending(box, stop.signal).then(setPending, (failed: unknown) => {
      if (!isAbort(failed)) setError(failed);
    });
    return () => stop.abort();
  }, [box, version, again]);
  const hotspots = pending?.hotspots ?? [];
  return (
    <section class="card wide">
      <h2>Pending verifications</h2>
      <p class="hint">Those in the part of the world that the map last showed.</p>
      <ErrorNote error={error} />
      {!pending && !error && <p class="waiting">One moment…</p>}
      {pending && (
        <p role="status">
          {hotspots.length === 0 ? "Nothing waits to be verified here." : `${hotspots.length} to be verified.`}
          {!pending.complete && " There are more: zoom the map in to see them all."}
        </p>
      )}
      <ul class="list">
        {hotspots.map((hotspot) => (
          <li key={hotspot.id}>
            <button
              type="button"
              class="row"
              aria-expanded={chosen === hotspot.id}
              onClick={() => setChosen(chosen === hotspot.id ? "" : hotspot.id)}
            >
              <span class="row-main">
                <span class="name">{hotspot.name}</span>
                <span class="small">
                  {hotspot.type} · {format.degrees(hotspot.location.lat)}, {format.degrees(hotspot.location.lng)} · since{" "}
                  {format.time(hotspot.created_at)}
                </span>
              </span>
            </button>
            {chosen === hotspot.id && <VerifyForm hotspot={hotspot} onDone={() => setAgain(again + 1)} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function VerifyForm({ hotspot, onDone }: { hotspot: Hotspot; onDone: () => void }) {
  const [lat, setLat] = useState("");
  const [lng, setLng] = useState("");
  const [accuracy, setAccuracy] = useState("");
  const [method, setMethod] = useState("gps");
  const { busy, error, run } = useDoing();
  const measure = (): void =>
    run(async () => {
      const { coords } = await new Promise<GeolocationPosition>((resolve, reject) =>
        navigator.geolocation.getCurrentPosition(resolve, reject, { enableHighAccuracy: true, timeout: 20_000 }),
      );
      setLat(coords.latitude.toFixed(6));
      setLng(coords.longitude.toFixed(6));
      setAccuracy(String(Math.ceil(coords.accuracy)));
    });
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const body = { lat: number(lat), lng: number(lng), accuracy_m: number(accuracy), method };
      await ask(`/v1/hotspots/${hotspot.id}/verification`, { method: "POST", body });
      onDone();
    });
  };
  const text = (set: (value: string) => void) => (event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value);
  return (
    <form class="inset" onSubmit={submit} noValidate>
      <p class="hint">Enter what was measured on the spot. It must be within 100 m of the registered place, and the accuracy is added to that.</p>
      <div class="line">
        <Field label="Latitude" name="lat" inputMode="decimal" value={lat} onInput={text(setLat)} fault={faultAt(error, "lat")} />
        <Field label="Longitude" name="lng" inputMode="decimal" value={lng} onInput={text(setLng)} fault={faultAt(error, "lng")} />
        <Field
          label="Accuracy, m"
          name="accuracy"
          inputMode="decimal"
          value={accuracy}
          onInput={text(setAccuracy)}
          fault={faultAt(error, "accuracy_m")}
        />
        <Field label="Method" name="method" value={method} onInput={text(setMethod)} fault={faultAt(error, "method")} />
      </div>
      <ErrorNote error={error} at={["lat", "lng", "accuracy_m", "method"]} />
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          Verify
        </button>
        {"geolocation" in navigator && (
          <button type="button" class="quiet" disabled={busy} onClick={measure}>
            Measure here
          </button>
        )}
      </div>
    </form>
  );
}

/** What was typed; what is no number is left for the server to complain about. */
function number(text: string): number | null {
  return text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text);
}
