// What cannot be undone is looked at first.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { ask } from "../api";
import { ErrorNote } from "./note";
import { useDoing } from "./use";

interface Props<R> {
  title: string;
  hint: string;
  path: string;
  body: object; // what was typed
  ready: boolean; // whether it can be sent
  faulty: string[]; // the fields that tell their own faults
  fields: (error: unknown) => ComponentChildren;
  look: string; // the button that changes nothing
  act: string; // and the one that does
  acted?: (report: R) => object; // what is sent besides, of what was looked at
  told: (report: R) => ComponentChildren; // in a sentence
  details: (report: R) => ComponentChildren;
  onDone?: () => void;
}

/** A form with two buttons: one says what would happen, and then the other does it. What is changed has to be looked at again. */
export function Previewed<R extends { confirmed: boolean }>({ title, hint, path, body, ready, faulty, fields, look, act, acted, told, details, onDone }: Props<R>) {
  const [last, setLast] = useState<{ about: string; report: R }>();
  const { busy, error, run, submit } = useDoing();
  const about = JSON.stringify(body);
  const looked = last?.about === about ? last.report : undefined;
  const send = (confirm: boolean) => async (): Promise<void> => {
    const sent = { ...body, ...(confirm && looked && acted?.(looked)), confirm };
    const { data } = await ask<R>(path, { method: "POST", body: sent });
    setLast({ about, report: data });
    if (confirm) onDone?.();
  };
  return (
    <form class="card wide" onSubmit={submit(send(false))} noValidate>
      <h2>{title}</h2>
      <p class="hint">{hint}</p>
      {fields(error)}
      <ErrorNote error={error} at={faulty} />
      <p role="status">{looked && told(looked)}</p>
      {looked && details(looked)}
      <p class="line">
        <button type="submit" class="button" disabled={busy || !ready}>
          {look}
        </button>
        {looked && !looked.confirmed && (
          <button type="button" class="quiet danger" disabled={busy} onClick={() => run(send(true))}>
            {act}
          </button>
        )}
      </p>
    </form>
  );
}
