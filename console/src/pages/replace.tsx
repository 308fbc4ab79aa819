// A new access point for a hotspot that stays where it is.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import { t } from "../messages";
import { Field } from "../parts/field";
import { ErrorNote, useFaults, useFirstFault } from "../parts/note";
import { useDoing } from "../parts/use";
import type { Hotspot } from "../types";

const field = "device.mac_address";

/** Asks for the MAC address of the new device. */
export function ReplaceForm({ hotspot, onReplaced, onCancel }: { hotspot: Hotspot; onReplaced: () => void; onCancel: () => void }) {
  const [mac, setMac] = useState("");
  const { busy, error, submit } = useDoing();
  const faults = useFaults(error);
  const form = useFirstFault(error);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const send = submit(async () => {
    await ask(`/v1/hotspots/${hotspot.id}`, { method: "PATCH", body: { device: { mac_address: mac } } });
    onReplaced();
  });
  return (
    <form class="inset" onSubmit={send} noValidate ref={form}>
      <p>{t.replace.intro}</p>
      <Field
        label={t.replace.mac}
        name="mac"
        required
        autoComplete="off"
        spellcheck={false}
        hint={t.replace.macHint}
        value={mac}
        onInput={(event) => {
          faults.touch(field);
          setMac(event.currentTarget.value);
        }}
        fault={faults.at(field)}
      />
      <p class="small">{t.replace.cost}</p>
      <ErrorNote error={error} at={[field]} />
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          {t.replace.submit}
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          {t.register.cancel}
        </button>
      </div>
    </form>
  );
}
