// What was deleted in the last day, and can be brought back.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { changes } from "../live";
import { t } from "../messages";
import { ErrorNote } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { DeletedHotspot } from "../types";

export function DeletedLately({ onRestored }: { onRestored: () => void }) {
  const { answer, reload } = useAsk<DeletedHotspot[]>(session.hasAccount && session.may("hotspots") ? "/v1/users/me/hotspots/deleted" : null, useCell(changes));
  const [told, setTold] = useState("");
  const { busy, error, run } = useDoing();
  const hotspots = answer?.data ?? [];
  const restore = (wanted: DeletedHotspot[]): void =>
    run(async () => {
      try {
        for (const { id, name } of wanted) {
          await ask(`/v1/hotspots/${id}/restoration`, { method: "POST" });
          setTold(t.deleted.back(name));
        }
      } finally {
        reload();
        onRestored();
      }
    });
  if (hotspots.length === 0 && !told && !error) return null;
  return (
    <section class="card wide">
      <div class="head">
        <h2>{t.deleted.title}</h2>
        {hotspots.length > 1 && (
          <button type="button" class="quiet" disabled={busy} onClick={() => restore(hotspots)}>
            {t.deleted.undoAll}
          </button>
        )}
      </div>
      <p role="status">{told}</p>
      <ErrorNote error={error} />
      <ul class="list">
        {hotspots.map((hotspot) => (
          <li key={hotspot.id} class="row">
            <span class="row-main">
              <span class="name">{hotspot.name}</span>
              <span class="small">{t.deleted.until(format.time(hotspot.restorable_until))}</span>
            </span>
            <button type="button" class="quiet" disabled={busy} aria-label={t.deleted.undoOne(hotspot.name)} onClick={() => restore([hotspot])}>
              {t.deleted.undo}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
