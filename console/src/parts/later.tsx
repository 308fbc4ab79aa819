import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../messages";
import { ErrorNote } from "./note";

/** A page that is fetched when it is first wanted, because few want it. */
export function Later({ load }: { load: () => Promise<FunctionComponent> }) {
  const [page, setPage] = useState<{ Body: FunctionComponent }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => void load().then((Body) => setPage({ Body }), setError), []);
  if (page) return <page.Body />;
  return <section class="page">{error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>}</section>;
}
