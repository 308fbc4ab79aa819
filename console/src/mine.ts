// The hotspots of the user who is signed in: all of them, as far as they are shown together, or
// of very many a page that the server chose and ordered.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask, isAbort } from "./api";
import type { Choice } from "./home";
import { session } from "./session";
import type { Hotspot } from "./types";

const perPage = 100;
/** How many are read at most. */
const most = 2000;
const calm = 30_000; // milliseconds between two refreshes of more than one page

/** How many the home page reads at once. Who has more goes from page to page. */
export const atOnce = 100;
/** How seldom the pages of very many are read again, in milliseconds. */
export const seldom = calm;

/** The address of a page of one's own hotspots. */
export function ownPage({ text, status, order, down }: Omit<Choice, "order"> & { order: Choice["order"] | "seen" }, page = 1, size = atOnce): string {
  const query = new URLSearchParams({ per_page: String(size), page: String(page), order: `${down ? "-" : ""}${order === "earned" ? "name" : order}` });
  if (text.trim()) query.set("q", text.trim());
  if (status) query.set("status", status);
  return `/v1/users/me/hotspots?${query.toString()}`;
}

/** The hotspots that are assigned to an installer, as far as there still are any. */
async function readAssigned(ids: string[], text: string, signal: AbortSignal): Promise<{ hotspots: Hotspot[]; total: number }> {
  const asked = ids.map((id) =>
    ask<Hotspot>(`/v1/hotspots/${encodeURIComponent(id)}`, { signal }).then(
      ({ data }) => [data],
      (error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return []; // it was deleted
        throw error;
      },
    ),
  );
  const hotspots = (await Promise.all(asked)).flat().filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return { hotspots, total: hotspots.length };
}

export async function readMine(text: string, signal: AbortSignal): Promise<{ hotspots: Hotspot[]; total: number }> {
  if (session.assigned) return readAssigned(session.assigned, text, signal);
  const hotspots: Hotspot[] = [];
  if (!session.hasAccount) return { hotspots, total: 0 };
  for (let page = 1; ; page++) {
    const query = new URLSearchParams({ per_page: String(perPage), page: String(page) });
    if (text) query.set("q", text);
    const { data, pagination } = await ask<Hotspot[]>(`/v1/users/me/hotspots?${query.toString()}`, { signal });
    hotspots.push(...data);
    const total = pagination?.total ?? hotspots.length;
    if (data.length < perPage || hotspots.length >= Math.min(total, most)) return { hotspots, total };
  }
}

export interface Mine {
  hotspots: Hotspot[] | undefined; // undefined while they are not known
  total: number; // that there are; more than hotspots if there are very many
  error: unknown;
  reload: () => void;
}

/** Reads them again when the version becomes another one, but seldom where they are many. */
export function useMine(text: string, version: unknown): Mine {
  const [mine, setMine] = useState<{ hotspots: Hotspot[]; total: number }>();
  const [error, setError] = useState<unknown>();
  const [again, setAgain] = useState(0);
  const last = useRef({ at: 0, text, again, many: false });
  useEffect(() => {
    const stop = new AbortController();
    const { at, many } = last.current;
    const asked = last.current.text !== text || last.current.again !== again;
    const wait = many && !asked ? Math.max(0, at + calm - Date.now()) : 0;
    const timer = setTimeout(() => {
      if (!session.who.value) return; // signed out meanwhile
      readMine(text, stop.signal).then(
        (read) => {
          last.current = { at: Date.now(), text, again, many: read.hotspots.length > perPage };
          setMine(read);
          setError(undefined);
        },
        (failed: unknown) => {
          if (!isAbort(failed)) setError(failed);
        },
      );
    }, wait);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, version, again]);
  return { hotspots: mine?.hotspots, total: mine?.total ?? 0, error, reload: () => setAgain((n) => n + 1) };
}
