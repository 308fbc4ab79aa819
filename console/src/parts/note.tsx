import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api";
import { inWords, sentence } from "../faults";
import { t } from "../messages";

/** Tells what went wrong, and the id under which the server's log has it. */
export function ErrorNote({ error, at = [] }: { error: unknown; at?: string[] }) {
  if (!error) return null;
  const known = error instanceof ApiError ? error : null;
  // Faults that stand at their fields need not be listed twice.
  const others =
    known?.faults.filter(({ field }) => !at.some((shown) => field === shown || field.startsWith(`${shown}[`) || field.startsWith(`${shown}.`))) ?? [];
  const message = known ? sentence(known) : t.errors.here;
  return (
    <div class="note bad" role="alert">
      <p class="sentence">{message}</p>
      {others.some(({ field, message: of }) => known?.message !== `${field} ${of}`) && (
        <ul>
          {others.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code>: {inWords(message)}
            </li>
          ))}
        </ul>
      )}
      {known?.requestId && (
        <details class="small" open={known.status >= 500}>
          <summary>{t.errors.details}</summary>
          {t.errors.request(<code>{known.requestId}</code>)}
        </details>
      )}
    </div>
  );
}

/** The message for a field, if the server found fault with it. */
export function faultAt(error: unknown, field: string): string {
  if (!(error instanceof ApiError)) return "";
  return inWords(error.faults.find((fault) => fault.field === field)?.message ?? "");
}

export interface Faults {
  at: (field: string) => string;
  touch: (field: string) => void; // what is being changed is no longer at fault
}

/** The faults of a form: each stands at its field until that is changed. */
export function useFaults(error: unknown): Faults {
  const [touched, setTouched] = useState<{ since: unknown; fields: string[] }>({ since: error, fields: [] });
  const fields = touched.since === error ? touched.fields : [];
  return {
    at: (field) => (fields.some((f) => field === f || field.startsWith(`${f}.`)) ? "" : faultAt(error, field)),
    touch: (field) => setTouched({ since: error, fields: [...fields, field] }),
  };
}

/** Brings whoever sent a form to the first fault that was found with it: that may be far from the button. */
export function useFirstFault(error: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const first = error ? form.current?.querySelector(".faulty") : null;
    first?.querySelector<HTMLElement>("input, select, button")?.focus({ preventScroll: true });
    first?.scrollIntoView({ block: "center" });
  }, [error]);
  return form;
}
