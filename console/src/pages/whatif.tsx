// What would hotspots at some places add, and what might they earn?
import { useEffect, useState } from "preact/hooks";
import { ask, isAbort } from "../api";
import { bounds } from "../bounds";
import * as format from "../format";
import { gaps } from "../gaps";
import { boxAround, boxOf } from "../geo";
import { rewardsOn } from "../head";
import { changes } from "../live";
import { t } from "../messages";
import { Field } from "../parts/field";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { useCalm } from "../parts/use";
import { added, clearPlan, mostPins, movedTo, movePin, plan, radii, removed, writePlan, type Plan } from "../plan";
import { keepSight } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Estimates, Simulation } from "../types";

type Estimate = Estimates["places"][number];

interface Result {
  of: string; // the plan, as it is written
  gain: Simulation;
  pins: number;
  places: Estimate[]; // none where rewards are off
}

export function WhatIf() {
  const view = useCell(mapView);
  const { pins, chosen, radius } = useCell(plan);
  const { result, error } = useResult();
  const pin = pins[chosen];

  useEffect(() => {
    view?.drafts(
      pins.map((at) => ({ ...at, radius_m: radius })),
      (which, to) => (plan.value = movedTo({ ...plan.value, chosen: which }, to)),
    );
    if (view) keepSight(view.sight.value);
  }, [view, pins, radius]);
  useEffect(() => () => view?.drafts([], () => undefined), [view]);

  const add = (): void => {
    if (view) plan.value = added(plan.value, view.center());
  };
  return (
    <section>
      <p class="hint">{t.whatIf.hint}</p>
      {pins.length === 0 && (
        <button type="button" class="quiet" onClick={add}>
          {t.words.placeAtCentre}
        </button>
      )}
      {pin && (
        <>
          <ErrorNote error={error} />
          {result && <Verdict result={result} radius={radius} />}
          {pins.length > 1 && <Pins estimates={result?.places ?? []} />}
          <div class="line">
            <CoordinateField label={t.words.latitude} value={pin.lat} most={bounds.Latitude.most} onChange={(lat) => movePin({ ...pin, lat })} />
            <CoordinateField label={t.words.longitude} value={pin.lng} most={bounds.Longitude.most} onChange={(lng) => movePin({ ...pin, lng })} />
          </div>
          <Field
            label={t.whatIf.radius(radius)}
            type="range"
            name="radius"
            min={radii.least}
            max={radii.most}
            step={10}
            value={radius}
            onInput={(event) => (plan.value = { ...plan.value, radius: Number(event.currentTarget.value) })}
          />
          <div class="line">
            {session.may("hotspots") && (
              <a class="button" href={`#/register?place=${format.degrees(pin.lat)},${format.degrees(pin.lng)}`}>
                {t.whatIf.registerHere}
              </a>
            )}
            <button type="button" class="quiet" disabled={pins.length >= mostPins} onClick={add}>
              {t.whatIf.another}
            </button>
            <CopyLink />
            <button type="button" class="quiet" onClick={clearPlan}>
              {t.whatIf.clear}
            </button>
          </div>
        </>
      )}
      <Gaps />
    </section>
  );
}

/** Asks what the plan would change, once it is left alone for a moment. */
function useResult(): { result: Result | undefined; error: unknown } {
  const version = useCell(changes);
  const asked = useCalm<Plan>(useCell(plan), 200);
  const [result, setResult] = useState<Result>();
  const [error, setError] = useState<unknown>();
  const of = writePlan(asked);
  useEffect(() => {
    if (asked.pins.length === 0) return;
    const stop = new AbortController();
    const bounds = boxOf(asked.pins.map((pin) => boxAround(pin, 3 * asked.radius)));
    const add = asked.pins.map((pin) => ({ ...pin, radius_m: asked.radius }));
    Promise.all([
      ask<Simulation>("/v1/coverage/simulate", { method: "POST", body: { bounds, add }, signal: stop.signal }),
      rewardsOn() ? ask<Estimates>("/v1/rewards/estimate", { method: "POST", body: { places: asked.pins }, signal: stop.signal }) : null,
    ]).then(
      ([gain, estimates]) => {
        setResult({ of, gain: gain.data, pins: asked.pins.length, places: estimates?.data.places ?? [] });
        setError(undefined);
      },
      (failed: unknown) => {
        if (isAbort(failed)) return;
        setResult(undefined);
        setError(failed);
      },
    );
    return () => stop.abort();
  }, [of, version]);
  return { result, error };
}

function Verdict({ result, radius }: { result: Result; radius: number }) {
  const { gain, places, pins } = result;
  const share = Math.min(1, gain.added_km2 / (pins * Math.PI * (radius / 1000) ** 2));
  const free = places.reduce((sum, { free_ground }) => sum + free_ground, 0) / places.length;
  return (
    <div class="verdict" role="status">
      <p>
        <strong>+{format.area(gain.added_km2)}</strong>{" "}
        <span class="small">{share > 0.9995 ? t.whatIf.allOf(pins) : t.whatIf.partOf(pins, format.percent(share))}</span>
      </p>
      {places.length > 0 && (
        <p>
          <strong>{range(places)}</strong>{" "}
          <span class="small">
            {free > 0.9995 ? t.whatIf.creditsFree : t.whatIf.creditsShared(format.percent(free))}
            {places.some(({ expected }) => !expected) && t.whatIf.fewNeighbours}
          </span>
        </p>
      )}
    </div>
  );
}

/** What neighbours would earn here, or the most that is possible where there are too few of them. */
function range(places: Estimate[]): string {
  const sum = (of: (place: Estimate) => number): number => places.reduce((total, place) => total + of(place), 0);
  if (places.some(({ expected }) => !expected)) return t.whatIf.atMost(format.credits(sum(({ most }) => most)));
  const [low, high] = [format.credits(sum(({ expected }) => expected!.low)), format.credits(sum(({ expected }) => expected!.high))];
  return low === high ? low : `${low}–${high}`;
}

function Pins({ estimates }: { estimates: Estimate[] }) {
  const { pins, chosen } = useCell(plan);
  return (
    <ol class="pins" aria-label={t.whatIf.planned}>
      {pins.map((_, n) => {
        const estimate = estimates[n];
        return (
          <li key={n}>
            <button type="button" class="quiet" aria-pressed={n === chosen} onClick={() => (plan.value = { ...plan.value, chosen: n })}>
              {t.whatIf.hotspot(n + 1)}
            </button>
            <span class="small">{estimate ? t.words.credits(range([estimate])) : ""}</span>
            <button type="button" class="quiet" aria-label={t.whatIf.remove(n + 1)} onClick={() => (plan.value = removed(plan.value, n))}>
              ✕
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function CopyLink() {
  const [done, setDone] = useState(false);
  return (
    <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(location.href).then(() => setDone(true))}>
      {done ? t.whatIf.copied : t.whatIf.copy}
    </button>
  );
}

/** Colours the ground in sight that no hotspot covers. */
function Gaps() {
  const view = useCell(mapView);
  const [shown, setShown] = useState(false);
  const [far, setFar] = useState(false);
  useEffect(() => {
    if (!view || !shown) return;
    let drawn = "";
    const draw = (): void => {
      const discs = view.covered();
      setFar(!discs);
      const box = view.bounds();
      const what = JSON.stringify([box, discs]);
      if (what === drawn) return; // drawing gaps sets the map in motion, and then it rests again
      drawn = what;
      view.heat(discs ? gaps(box, discs) : []);
    };
    draw();
    const stop = view.onRest(draw);
    return () => {
      stop();
      view.heat([]);
    };
  }, [view, shown]);
  return (
    <p>
      <label>
        <input type="checkbox" name="gaps" checked={shown} onChange={(event) => setShown(event.currentTarget.checked)} /> {t.whatIf.gaps}
      </label>
      {shown && <span class="small">{far ? t.whatIf.zoomIn : t.whatIf.darker}</span>}
    </p>
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
