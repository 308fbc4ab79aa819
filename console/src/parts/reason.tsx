import { useState } from "preact/hooks";
import { ask } from "../api";
import { bounds } from "../bounds";
import { t } from "../messages";
import { Field } from "./field";
import { ErrorNote, faultAt } from "./note";
import { useDoing } from "./use";

/** Takes something back, with the reason that the server asks for. */
export function ReasonForm(props: { path: string; hint: string; verb: string; button: string; onDone: () => void }) {
  const [reason, setReason] = useState("");
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    await ask(`${props.path}?${new URLSearchParams({ reason }).toString()}`, { method: "DELETE" });
    setReason("");
    props.onDone();
  });
  return (
    <form class="inset" onSubmit={send} noValidate>
      <Field
        label={t.words.reason}
        name="reason"
        hint={props.hint}
        maxLength={bounds.Reason.most}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
        fault={faultAt(error, "reason")}
      />
      <ErrorNote error={error} at={["reason"]} />
      <button type="submit" class={props.button} disabled={busy}>
        {props.verb}
      </button>
    </form>
  );
}
