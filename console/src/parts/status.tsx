import { t } from "../messages";
import type { Status } from "../types";

/** A status as a word with a mark: not by colour alone. */
export function StatusBadge({ status }: { status: Status }) {
  return <span class={`badge ${status}`}>{t.status[status]}</span>;
}
