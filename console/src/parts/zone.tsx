import { useId } from "preact/hooks";
import { t } from "../messages";
import { Field } from "./field";

interface Props {
  name: string;
  value: string;
  onZone: (zone: string) => void;
  hint?: string;
  fault?: string;
}

/** A time zone by its name, with those that the browser knows to choose from. */
export function ZoneField({ name, value, onZone, hint, fault }: Props) {
  const zones = useId();
  return (
    <>
      <Field label={t.hours.zone} name={name} list={zones} autoComplete="off" spellcheck={false} value={value} hint={hint ?? ""} fault={fault ?? ""} onInput={(event) => onZone(event.currentTarget.value)} />
      <datalist id={zones}>
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}
