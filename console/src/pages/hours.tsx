// When a hotspot means to be open.
import type { Fault } from "../api";
import { today } from "../clock";
import { inWords } from "../faults";
import * as format from "../format";
import { network } from "../head";
import { t } from "../messages";
import { Check, Field } from "../parts/field";
import { ZoneField } from "../parts/zone";
import type { ExceptionDay, OperatingHours, WeeklySpan } from "../types";

const days: WeeklySpan["days"] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

interface Props {
  hours: OperatingHours | null;
  onChange: (hours: OperatingHours | null) => void;
  faults: Fault[];
}

export function HoursEditor({ hours, onChange, faults }: Props) {
  return (
    <fieldset>
      <legend>{t.hours.title}</legend>
      <Check label={t.hours.always} name="always" checked={hours === null} onChange={(always) => onChange(always ? null : firstHours())} />
      {hours && (
        <>
          <ZoneField
            name="timezone"
            value={hours.timezone}
            onZone={(timezone) => onChange({ ...hours, timezone })}
            fault={inWords(faults.find(({ field }) => field === "settings.operating_hours.timezone")?.message ?? "")}
          />
          {hours.weekly.map((span, i) => (
            <SpanEditor
              key={i}
              number={i + 1}
              span={span}
              faults={faults.filter(({ field }) => field.startsWith(`settings.operating_hours.weekly[${i}]`))}
              onChange={(next) => onChange({ ...hours, weekly: replaced(hours.weekly, i, next) })}
            />
          ))}
          {(hours.exceptions ?? []).map((day, i) => (
            <ExceptionEditor
              key={i}
              day={day}
              faults={faults.filter(({ field }) => field.startsWith(`settings.operating_hours.exceptions[${i}]`))}
              onChange={(next) => onChange({ ...hours, exceptions: replaced(hours.exceptions ?? [], i, next) })}
            />
          ))}
          {faults
            .filter(({ field }) => !/(timezone|weekly\[|exceptions\[)/.test(field))
            .map(({ field, message }) => (
              <p class="fault" key={field}>
                {inWords(message)}
              </p>
            ))}
          <div class="line">
            <button
              type="button"
              class="quiet"
              onClick={() => onChange({ ...hours, weekly: [...hours.weekly, { days: ["sat"], open: "10:00", close: "18:00" }] })}
            >
              {t.hours.add}
            </button>
            <button
              type="button"
              class="quiet"
              onClick={() =>
                onChange({ ...hours, exceptions: [...(hours.exceptions ?? []), { date: today(), closed: true }] })
              }
            >
              {t.hours.addException}
            </button>
          </div>
        </>
      )}
    </fieldset>
  );
}

function firstHours(): OperatingHours {
  return {
    timezone: network.value.timezone || format.zone(),
    weekly: [{ days: days.slice(0, 5), open: "08:00", close: "22:00" }],
  };
}

/** A list with one item replaced, or without it. */
function replaced<T>(list: T[], at: number, next: T | null): T[] {
  return list.flatMap((item, i) => (i === at ? (next === null ? [] : [next]) : [item]));
}

interface Part<T> {
  onChange: (next: T | null) => void;
  faults: Fault[];
}

function SpanEditor({ number, span, onChange, faults }: Part<WeeklySpan> & { number: number; span: WeeklySpan }) {
  return (
    <div class="span" role="group" aria-label={t.hours.span(number)}>
      <div class="days">
        {days.map((day) => (
          <Check
            key={day}
            label={t.hours.days[day]}
            checked={span.days.includes(day)}
            onChange={(checked) => onChange({ ...span, days: days.filter((d) => (d === day ? checked : span.days.includes(d))) })}
          />
        ))}
      </div>
      <div class="line">
        <Clock label={t.hours.from} value={span.open} onChange={(open) => onChange({ ...span, open })} />
        <Clock label={t.hours.to} value={span.close} onChange={(close) => onChange({ ...span, close })} />
        <button type="button" class="quiet" onClick={() => onChange(null)} aria-label={t.hours.removeSpan(number)}>
          {t.hours.remove}
        </button>
      </div>
      <Faults faults={faults} />
    </div>
  );
}

function ExceptionEditor({ day, onChange, faults }: Part<ExceptionDay> & { day: ExceptionDay }) {
  const closed = day.closed === true;
  return (
    <div class="span" role="group" aria-label={t.hours.exception(format.date(day.date))}>
      <div class="line">
        <Field label={t.hours.date} type="date" value={day.date} onInput={(event) => onChange({ ...day, date: event.currentTarget.value })} />
        <Check
          label={t.hours.closed}
          checked={closed}
          onChange={(checked) => onChange(checked ? { date: day.date, closed: true } : { date: day.date, open: "10:00", close: "18:00" })}
        />
        {!closed && <Clock label={t.hours.from} value={day.open ?? ""} onChange={(open) => onChange({ ...day, open })} />}
        {!closed && <Clock label={t.hours.to} value={day.close ?? ""} onChange={(close) => onChange({ ...day, close })} />}
        <button type="button" class="quiet" onClick={() => onChange(null)} aria-label={t.hours.removeException(format.date(day.date))}>
          {t.hours.remove}
        </button>
      </div>
      <Faults faults={faults} />
    </div>
  );
}

// A time input of a browser knows no 24:00.
function Clock({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <Field
      label={label}
      class="clock"
      inputMode="numeric"
      placeholder="08:00"
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function Faults({ faults }: { faults: Fault[] }) {
  return (
    <>
      {faults.map(({ field, message }) => (
        <p class="fault" key={field}>
          {field.split(".").at(-1)}: {inWords(message)}
        </p>
      ))}
    </>
  );
}
