// Hotspots and users, where only their ids are known.
import { ApiError } from "../api";
import * as format from "../format";
import { session } from "../session";
import type { Hotspot } from "../types";
import { useAsk } from "./use";

const known = new Map<string, string>(); // names by id; they seldom change

/** A link to a hotspot. Its name is asked for, unless it is known; one that was deleted has none. */
export function HotspotLink({ id, name: given }: { id: string; name?: string }) {
  const { answer, error } = useAsk<Hotspot>(given === undefined && !known.has(id) ? `/v1/hotspots/${encodeURIComponent(id)}` : null);
  if (answer) known.set(answer.data.id, answer.data.name);
  if (error instanceof ApiError && error.status === 404) known.set(id, "");
  const name = given ?? known.get(id);
  return (
    <a href={`#/hotspots/${id}`} title={id}>
      {name || <code class="id">{format.shortId(id)}</code>}
    </a>
  );
}

/** A user, as short as can be; a link for those who may see more. */
export function User({ id }: { id: string }) {
  if (id.startsWith("usr_") && session.may("operators")) {
    return (
      <a href={`#/staff/operators/${id}`} title={id}>
        <code class="id">{format.shortId(id)}</code>
      </a>
    );
  }
  return (
    <code class="id" title={id}>
      {format.shortId(id)}
    </code>
  );
}
