// What staff hold back from an operator, and how to answer.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { holding } from "../holds";
import { t } from "../messages";
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
        <section class="card wide" key={hold.id} aria-label={t.held.label}>
          <h2>
            {t.held.title(
              hold.status === "active" ? t.words.held : t.held.notPaid,
              hold.hotspot_id ? hotspot ? t.held.thisHotspot : <HotspotLink id={hold.hotspot_id} /> : t.held.allHotspots,
            )}
          </h2>
          <p>{hold.status === "active" ? t.held.active : t.held.voided}</p>
          <HoldFacts hold={hold} />
          {hold.status === "active" && own && session.may("hotspots") && <Reply hold={hold} onDone={reload} />}
        </section>
      ))}
    </>
  );
}

function Reply({ hold, onDone }: { hold: Hold; onDone: () => void }) {
  const [text, setText] = useState("");
  const [sent, setSent] = useState(false);
  const { busy, error, submit } = useDoing();
  const send = submit(async () => {
    await ask(`/v1/holds/${hold.id}/answer`, { method: "POST", body: { text } });
    setText("");
    setSent(true);
    onDone();
  });
  return (
    <form class="inset" onSubmit={send} noValidate>
      <Statement
        label={hold.answer ? t.held.another : t.held.answer}
        name="text"
        hint={t.held.hint}
        value={text}
        onText={setText}
        error={error}
      />
      <ErrorNote error={error} at={["text"]} />
      <p role="status">{sent ? t.held.sent : ""}</p>
      <button type="submit" class="button" disabled={busy}>
        {t.held.send}
      </button>
    </form>
  );
}
