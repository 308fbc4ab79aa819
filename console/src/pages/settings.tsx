// What an operator may change. The form remembers the version that it was
// filled from, so that two people cannot overwrite each other unawares.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { bounds, type Bounds } from "../bounds";
import { t } from "../messages";
import { Check, Choice, Field } from "../parts/field";
import { ErrorNote, useFaults } from "../parts/note";
import { useDoing } from "../parts/use";
import { askBeforeLeaving } from "../router";
import type { Hotspot, HotspotType, Settings } from "../types";
import { HoursEditor } from "./hours";
import { reach } from "./register";

interface Props {
  hotspot: Hotspot;
  etag: string | null;
  onChanged: () => void;
}

export function SettingsForm(props: Props) {
  // What is being typed must not vanish when the hotspot becomes another, so the form is
  // filled again only while nothing is typed, or when it is told to.
  const [filled, setFilled] = useState(props);
  const [version, setVersion] = useState(0);
  const typed = useRef(false);
  const fill = (hotspot: Hotspot, etag: string | null): void => {
    setFilled({ ...props, hotspot, etag });
    setVersion(version + 1);
  };
  useEffect(() => {
    if (!typed.current && props.etag !== filled.etag) fill(props.hotspot, props.etag);
  }, [props.etag]);
  const refill = async (): Promise<void> => {
    const { data, etag } = await ask<Hotspot>(`/v1/hotspots/${props.hotspot.id}`);
    fill(data, etag);
  };
  return (
    <Form
      key={version}
      {...filled}
      onChanged={props.onChanged}
      onSaved={(etag) => setFilled({ ...filled, etag })}
      onTyped={(unsaved) => (typed.current = unsaved)}
      onRefill={refill}
    />
  );
}

interface FormProps extends Props {
  onSaved: (etag: string | null) => void;
  onTyped: (unsaved: boolean) => void;
  onRefill: () => Promise<void>;
}

/** What stands outside of the settings. */
interface About {
  name: string;
  type: HotspotType;
  address: string;
  ssid: string;
}

const shown = ["name", "type", "location.address", "device.ssid", "settings"];

function Form({ hotspot, etag, onChanged, onSaved, onTyped, onRefill }: FormProps) {
  const [about, setAbout] = useState<About>({
    name: hotspot.name,
    type: hotspot.type,
    address: hotspot.location.address ?? "",
    ssid: hotspot.device.ssid,
  });
  const [settings, setSettings] = useState<Settings>(hotspot.settings);
  const [saved, setSaved] = useState(false);
  const now = JSON.stringify([about, settings]);
  const [stored, setStored] = useState(now);
  const unsaved = now !== stored;
  useEffect(() => {
    onTyped(unsaved);
    askBeforeLeaving(unsaved ? t.settings.leave : "");
    return () => askBeforeLeaving("");
  }, [unsaved]);
  const { busy, error, run, submit } = useDoing();
  const faults = useFaults(error);
  const change = (part: Partial<Settings>): void => {
    for (const field of Object.keys(part)) faults.touch(`settings.${field}`);
    setSaved(false);
    setSettings({ ...settings, ...part });
  };
  const send = submit(async () => {
    setSaved(false);
    const { etag: next } = await ask(`/v1/hotspots/${hotspot.id}`, {
      method: "PATCH",
      body: { name: about.name, type: about.type, location: { address: about.address }, device: { ssid: about.ssid }, settings },
      headers: etag ? { "If-Match": etag } : {},
    });
    onSaved(next);
    setSaved(true);
    setStored(now);
    onChanged();
  });
  const tell = (part: Partial<About>, field: string): void => {
    faults.touch(field);
    setSaved(false);
    setAbout({ ...about, ...part });
  };
  const text = (part: "name" | "address" | "ssid", label: string, field: string, hint?: string) => (
    <Field
      label={label}
      name={part}
      value={about[part]}
      onInput={(event) => tell({ [part]: event.currentTarget.value }, field)}
      {...(hint && { hint })}
      fault={faults.at(field)}
    />
  );
  const number = (part: "max_connections" | "bandwidth_limit_mbps" | "coverage_radius_m", field: { label: string; name: string }, { least, most }: Bounds) => (
    <Field
      {...field}
      min={least || 1}
      max={most}
      type="number"
      value={settings[part] ?? reach[about.type]} // only the radius may be missing
      onInput={(event) => change({ [part]: event.currentTarget.valueAsNumber || 0 })}
      fault={faults.at(`settings.${part}`)}
    />
  );
  const hoursFaults =
    error instanceof ApiError ? error.faults.filter(({ field }) => field.startsWith("settings.operating_hours") && faults.at(field)) : [];
  return (
    <form class="card" id="edit" onSubmit={send} noValidate>
      <h2>{t.correct.title}</h2>
      {text("name", t.words.name, "name")}
      <Choice
        label={t.words.type}
        name="type"
        value={about.type}
        options={Object.entries(t.type)}
        onChange={(type) => tell({ type: type as HotspotType }, "type")}
        fault={faults.at("type")}
      />
      {text("address", t.correct.address, "location.address")}
      {text("ssid", t.correct.ssid, "device.ssid", t.correct.ssidHint)}
      <div class="line">
        {number("max_connections", { label: t.settings.connections, name: "max_connections" }, bounds.MaxConnections)}
        {number("bandwidth_limit_mbps", { label: t.settings.bandwidth, name: "bandwidth" }, bounds.BandwidthLimit)}
        {number("coverage_radius_m", { label: t.settings.radius, name: "radius" }, bounds.CoverageRadius)}
      </div>
      {about.type === "home" && (
        <Check label={t.settings.showSsid} name="show_ssid" checked={settings.show_ssid ?? false} onChange={(show_ssid) => change({ show_ssid })} />
      )}
      <HoursEditor hours={settings.operating_hours} onChange={(operating_hours) => change({ operating_hours })} faults={hoursFaults} />
      <ErrorNote error={error} at={shown} />
      {error instanceof ApiError && error.code === "conflict" && (
        <button type="button" class="quiet" onClick={() => run(onRefill)}>
          {t.settings.reload}
        </button>
      )}
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          {busy ? t.settings.saving : t.words.save}
        </button>
        <span role="status">{saved ? t.words.saved : unsaved ? t.settings.unsaved : ""}</span>
      </div>
    </form>
  );
}
