// A new hotspot, placed by a click on the map.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ask } from "../api";
import { bounds } from "../bounds";
import { t } from "../messages";
import { Check, Choice, Field } from "../parts/field";
import { parsePlace, roundPlace } from "../geo";
import { mapView, useMapClick } from "../parts/maphost";
import { Lacks } from "../parts/lacks";
import { ErrorNote, useFaults, useFirstFault, type Faults } from "../parts/note";
import { Panel } from "../parts/panel";
import { useDoing } from "../parts/use";
import { go, route } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot, HotspotType, Place } from "../types";
import { CoordinateField } from "./whatif";

export const reach: Record<HotspotType, number> = { home: 50, business: 75, public: 100 };
const fields = ["name", "type", "location", "device", "settings.coverage_radius_m"];

export function RegisterPage() {
  const view = useCell(mapView);
  const [place, setPlace] = useState<Place | null>(() => parsePlace(route.value.query["place"] ?? ""));
  const [name, setName] = useState("");
  const [type, setType] = useState<HotspotType>("home");
  const [address, setAddress] = useState("");
  const [ssid, setSsid] = useState("");
  const [mac, setMac] = useState("");
  const [radius, setRadius] = useState("");
  const [showSsid, setShowSsid] = useState(false);
  const { busy, error, submit } = useDoing();
  const faults = useFaults(error);
  const form = useFirstFault(error);
  const attempt = useRef({ body: "", key: "" });
  const shownRadius = Number(radius) || reach[type];

  useEffect(() => view?.show({ kind: "network" }), [view]);
  useEffect(() => {
    if (place) view?.fly(place, 17);
  }, [view]);
  useMapClick(setPlace);
  useEffect(() => {
    view?.draft(place && { ...place, radius_m: shownRadius }, setPlace);
  }, [view, place, shownRadius]);
  useEffect(() => () => view?.draft(null), [view]);

  const send = submit(async () => {
    const body = {
      name,
      type,
      ...(place && { location: { ...roundPlace(place), ...(address && { address }) } }),
      device: { ssid, mac_address: mac },
      settings: { ...(radius && { coverage_radius_m: Number(radius) }), ...(type === "home" && showSsid && { show_ssid: true }) },
    };
    // The same form, sent twice, registers once.
    const text = JSON.stringify(body);
    if (attempt.current.body !== text) attempt.current = { body: text, key: randomKey() };
    const { data } = await ask<Hotspot>("/v1/hotspots", { method: "POST", body, headers: { "Idempotency-Key": attempt.current.key } });
    go(`/hotspots/${data.id}`);
  });

  if (!session.may("hotspots")) {
    return (
      <Panel title={t.register.panel}>
        <h1>{t.app.register}</h1>
        <Lacks of="hotspots" ask />
      </Panel>
    );
  }
  const text = (field: string, set: (value: string) => void) => ({
    onInput: (event: { currentTarget: HTMLInputElement }) => {
      faults.touch(field);
      set(event.currentTarget.value);
    },
    fault: faults.at(field),
  });
  return (
    <Panel title={t.register.panel}>
      <form onSubmit={send} noValidate ref={form}>
        <h1>{t.app.register}</h1>
        <p class="hint" role="status">
          {place ? t.register.drag : t.register.click}
        </p>
        {!place && <PlaceChoice faults={placeFaults(faults)} onPlace={() => view && setPlace(view.center())} />}
        {place && (
          <div class="line">
            <CoordinateField label={t.words.latitude} value={place.lat} most={bounds.Latitude.most} onChange={(lat) => setPlace({ ...place, lat })} />
            <CoordinateField label={t.words.longitude} value={place.lng} most={bounds.Longitude.most} onChange={(lng) => setPlace({ ...place, lng })} />
          </div>
        )}
        <Field label={t.words.name} name="name" required value={name} {...text("name", setName)} hint={t.register.nameHint} />
        <Choice
          label={t.words.type}
          name="type"
          value={type}
          options={Object.entries(t.type)}
          onChange={(value) => setType(value as HotspotType)}
          fault={faults.at("type")}
        />
        <Field label={t.register.address} name="address" value={address} {...text("location.address", setAddress)} />
        <Field label={t.register.ssid} name="ssid" required value={ssid} {...text("device.ssid", setSsid)} />
        {type === "home" && <Check label={t.register.showSsid} name="show_ssid" checked={showSsid} onChange={setShowSsid} />}
        <Field
          label={t.register.mac}
          name="mac"
          required
          placeholder="02:00:5e:10:00:01"
          spellcheck={false}
          value={mac}
          {...text("device.mac_address", setMac)}
        />
        <Field
          label={t.register.radius}
          name="radius"
          type="number"
          min={bounds.CoverageRadius.least}
          max={bounds.CoverageRadius.most}
          placeholder={String(reach[type])}
          value={radius}
          {...text("settings.coverage_radius_m", setRadius)}
        />
        <ErrorNote error={error} at={fields} />
        <div class="line">
          <button type="submit" class="button" disabled={busy}>
            {busy ? t.register.registering : t.register.submit}
          </button>
          <a class="quiet" href="#/hotspots">
            {t.register.cancel}
          </a>
        </div>
      </form>
    </Panel>
  );
}

/** The way to place a hotspot without a pointer. */
function PlaceChoice({ faults, onPlace }: { faults: string[]; onPlace: () => void }) {
  const id = useId();
  return (
    <div class={faults.length > 0 ? "field faulty" : "field"}>
      <button type="button" class="quiet" aria-describedby={id} onClick={onPlace}>
        {t.words.placeAtCentre}
      </button>
      <p class="fault" id={id}>
        {faults.map((fault) => t.register.fault(fault)).join(" ")}
      </p>
    </div>
  );
}

/** The faults of a place; those of its two numbers are often the same. */
function placeFaults(faults: Faults): string[] {
  return [...new Set(["location", "location.lat", "location.lng"].map(faults.at))].filter(Boolean);
}

function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
