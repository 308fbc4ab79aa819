// What staff hold back from an operator, and how to answer.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { holding } from "../holds";
import { HotspotLink } from "../parts/named";
import { ErrorNote } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import type { Hold } from "../types";
import { HoldFacts, Statement } from "./holds";

/** What of an operator, or of one hotspot, is held or was made void. */
export function Held({ user = "me", hotspot }: { user?: string; hotspot?: string }) {
  const { answer, error, reload } = useAsk<Hold[]>(`/v1/users/${user}/holds?per_page=100`);
  const own = user === "me" || user === session.who.value?.user_id;
  const active = holding(answer?.data ?? [], hotspot);
  return (
    <>
      <ErrorNote error={error} />
      {active.map((hold) => (
        <section class="card wide" key={hold.id} aria-label="Hold">
          <h2>
            {hold.status === "active" ? "Held" : "Not paid"}: {hold.hotspot_id ? hotspot ? "this hotspot" : <HotspotLink id={hold.hotspot_id} /> : "all hotspots"}
          </h2>
          <p>
            {hold.status === "active"
              ? "The network's staff hold back what is earned while this hold lasts. When it ends, it is paid with the next statement, unless a visit fails."
              : "A visit failed while this was held, and two people confirmed it. What was earned under the hold is not paid."}
          </p>
          <HoldFacts hold={hold} />
          {hold.status === "active" && own && session.may("hotspots:write") && <Reply hold={hold} onDone={reload} />}
        </section>
      ))}
    </>
  );
}

function Reply({ hold, onDone }: { hold: Hold; onDone: () => void }) {
  const [text, setText] = useState("");
  const [sent, setSent] = useState(false);
  const { busy, error, run } = useDoing();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await ask(`/v1/holds/${hold.id}/answer`, { method: "POST", body: { text } });
      setText("");
      setSent(true);
      onDone();
    });
  };
  return (
    <form class="inset" onSubmit={submit} noValidate>
      <Statement
        label={hold.answer ? "Another answer" : "Your answer"}
        name="text"
        hint="Tell staff what they should know, such as where the radio is. A later answer replaces it."
        value={text}
        onText={setText}
        error={error}
      />
      <ErrorNote error={error} at={["text"]} />
      <p role="status">{sent ? "Sent." : ""}</p>
      <button type="submit" class="button" disabled={busy}>
        Answer
      </button>
    </form>
  );
}
