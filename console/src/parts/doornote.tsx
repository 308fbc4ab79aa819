import { ApiError } from "../api";
import { t } from "../messages";
import { ErrorNote } from "./note";

/** What went wrong at a door. The server says the same of whatever is wrong with a link, a code or a passkey. */
export function DoorNote({ error, refused = t.enter.refused, at = [] }: { error: unknown; refused?: string; at?: string[] }) {
  if (!(error instanceof ApiError) || error.status !== 401) return <ErrorNote error={error} at={at} />;
  return (
    <p class="note bad" role="alert">
      {refused}
    </p>
  );
}
