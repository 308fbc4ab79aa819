// What an operator may change. The form remembers the version that it was
// filled from, so that two people cannot overwrite each other unawares.
import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { bounds, type Bounds } from "../bounds";
import { t } from "../messages";
import { Check, Field } from "../parts/field";
import { ErrorNote, useFaults } from "../parts/note";
import { useDoing } from "../parts/use";
import { askBeforeLeaving } from "../router";
import type { Hotspot, Settings } from "../types";
import { HoursEditor } from "./hours";

interface Props {
  hotspot: Hotspot;
  etag: string | null;
  onChanged: () => void;
}

export function SettingsForm(props: Props) {
  // What is being typed must not vanish when the page hears of a heartbeat, so
  // the form is filled again only when it is told to.
  const [filled, setFilled] = useState(props);
  const [version, setVersion] = useState(0);
  const refill = async (): Promise<void> => {
    const { data, etag } = await ask<Hotspot>(`/v1/hotspots/${props.hotspot.id}`);
    setFilled({ ...props, hotspot: data, etag });
    setVersion(version + 1);
  };
  return <Form key={version} {...filled} onChanged={props.onChanged} onRefill={refill} />;
}

const shown = ["name", "settings"];

function Form({ hotspot, etag, onChanged, onRefill }: Props & { onRefill: () => Promise<void> }) {
  const [version, setVersion] = useState(etag);
  const [name, setName] = useState(hotspot.name);
  const [settings, setSettings] = useState<Settings>(hotspot.settings);
  const [saved, setSaved] = useState(false);
  const [stored, setStored] = useState(() => JSON.stringify([hotspot.name, hotspot.settings]));
  const unsaved = JSON.stringify([name, settings]) !== stored;
  useEffect(() => {
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
      body: { name, settings },
      headers: version ? { "If-Match": version } : {},
    });
    setVersion(next);
    setSaved(true);
    setStored(JSON.stringify([name, settings]));
    onChanged();
  });
  const rename = (event: { currentTarget: HTMLInputElement }): void => {
    faults.touch("name");
    setSaved(false);
    setName(event.currentTarget.value);
  };
  const number = (part: "max_connections" | "bandwidth_limit_mbps" | "coverage_radius_m", field: { label: string; name: string }, { least, most }: Bounds) => (
    <Field
      {...field}
      min={least || 1}
      max={most}
      type="number"
      value={settings[part] ?? hotspot.coverage_radius_m} // only the radius may be missing
      onInput={(event) => change({ [part]: event.currentTarget.valueAsNumber || 0 })}
      fault={faults.at(`settings.${part}`)}
    />
  );
  const hoursFaults =
    error instanceof ApiError ? error.faults.filter(({ field }) => field.startsWith("settings.operating_hours") && faults.at(field)) : [];
  return (
    <form class="card" onSubmit={send} noValidate>
      <h2>{t.settings.title}</h2>
      <Field label={t.words.name} name="name" value={name} onInput={rename} fault={faults.at("name")} />
      <div class="line">
        {number("max_connections", { label: t.settings.connections, name: "max_connections" }, bounds.MaxConnections)}
        {number("bandwidth_limit_mbps", { label: t.settings.bandwidth, name: "bandwidth" }, bounds.BandwidthLimit)}
        {number("coverage_radius_m", { label: t.settings.radius, name: "radius" }, bounds.CoverageRadius)}
      </div>
      {hotspot.type === "home" && (
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
