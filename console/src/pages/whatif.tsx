// What would a hotspot at some place add?
import { useEffect, useState } from "preact/hooks";
import { ask, isAbort } from "../api";
import * as format from "../format";
import { boxAround } from "../geo";
import { changes } from "../live";
import { Field } from "../parts/field";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { useCalm } from "../parts/use";
import { useCell } from "../state";
import type { Place, Simulation } from "../types";

interface Props {
  place: Place | null;
  onPlace: (place: Place) => void;
}

export function WhatIf({ place, onPlace }: Props) {
  const view = useCell(mapView);
  const version = useCell(changes);
  const [radius, setRadius] = useState(100);
  const [result, setResult] = useState<Simulation>();
  const [error, setError] = useState<unknown>();
  // Whoever was clicked on, or searched for, has more to it than a place.
  const asked = useCalm(place && { lat: place.lat, lng: place.lng, radius_m: radius }, 200);

  useEffect(() => {
    view?.draft(place && { ...place, radius_m: radius }, onPlace);
  }, [view, place, radius, onPlace]);
  useEffect(() => () => view?.draft(null), [view]);
  useEffect(() => {
    if (!asked) return;
    const stop = new AbortController();
    const bounds = boxAround(asked, 3 * asked.radius_m);
    ask<Simulation>("/v1/coverage/simulate", { method: "POST", body: { bounds, add: [asked] }, signal: stop.signal }).then(
      ({ data }) => {
        setResult(data);
        setError(undefined);
      },
      (failed: unknown) => {
        if (isAbort(failed)) return;
        setResult(undefined);
        setError(failed);
      },
    );
    return () => stop.abort();
  }, [asked?.lat, asked?.lng, asked?.radius_m, version]);

  const share = result ? Math.min(1, result.added_km2 / (Math.PI * (radius / 1000) ** 2)) : 0;
  return (
    <section>
      <p class="hint">Click the map to try a hotspot there, and drag it around.</p>
      {!place && (
        <button type="button" class="quiet" onClick={() => view && onPlace(view.center())}>
          Place it at the centre
        </button>
      )}
      {place && (
        <>
          <ErrorNote error={error} />
          {result && (
            <p class="verdict" role="status">
              <strong>+{format.area(result.added_km2)}</strong>
              <span class="small">
                {" "}
                newly covered, {share > 0.9995 ? "all of its disc" : `${format.percent(share)} of its disc; the rest is already covered`}
              </span>
            </p>
          )}
          <Field
            label={`Radius: ${radius} m`}
            type="range"
            name="radius"
            min={10}
            max={500}
            step={10}
            value={radius}
            onInput={(event) => setRadius(Number(event.currentTarget.value))}
          />
          <div class="line">
            <CoordinateField label="Latitude" value={place.lat} most={90} onChange={(lat) => onPlace({ ...place, lat })} />
            <CoordinateField label="Longitude" value={place.lng} most={180} onChange={(lng) => onPlace({ ...place, lng })} />
          </div>
        </>
      )}
    </section>
  );
}

interface CoordinateProps {
  label: string;
  value: number;
  most: number;
  onChange: (value: number) => void;
}

/** The way to move a pin without a pointer. */
export function CoordinateField({ label, value, most, onChange }: CoordinateProps) {
  return (
    <Field
      label={label}
      type="number"
      step={0.0005}
      min={-most}
      max={most}
      value={format.degrees(value)}
      onChange={(event) => {
        const typed = event.currentTarget.valueAsNumber;
        if (Math.abs(typed) <= most) onChange(typed);
      }}
    />
  );
}
