import { useEffect, useState } from "preact/hooks";
import { ApiError, isAbort, send } from "../api";
import type { Place, Status } from "../types";

/** A hotspot as the open feeds show it. */
export interface OpenHotspot {
  geometry: { coordinates: [lng: number, lat: number] };
  properties: {
    id: string;
    name: string | null;
    status: Status;
    address: string | null;
    ssid: string | null;
    open_now: boolean;
    open_until: string | null;
    opens_at: string | null;
    timezone: string | null;
    distance_m?: number; // of the nearest
  };
}

export interface OpenHotspots {
  features: OpenHotspot[];
}

export const placeOf = ({ geometry: { coordinates } }: OpenHotspot): Place => ({ lat: coordinates[1], lng: coordinates[0] });

/** Where the nearest hotspots are asked for: of all, or of those with a text in their name or address. Ten metres are exact enough, and all that a visitor need tell. */
export function nearestPath({ lat, lng }: Place, limit: number, text = ""): string {
  const query = new URLSearchParams({ lat: lat.toFixed(4), lng: lng.toFixed(4), limit: String(limit), ...(text && { q: text }) });
  return `/open/nearest?${query}`;
}

const minute = 60_000; // feeds change as often

/** Asks a feed, and again every minute. undefined: not known yet; null: there is none. */
export function useFeed<T>(path: string | null): T | null | undefined {
  const [answer, setAnswer] = useState<{ path: string; value: T | null }>();
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    const load = (): void => {
      const read = async (): Promise<T> => (await (await send(path, { signal: stop.signal })).json()) as T;
      read().then(
        (value) => setAnswer({ path, value }),
        (error: unknown) => {
          if (!isAbort(error) && error instanceof ApiError && (error.status === 404 || error.status === 400)) setAnswer({ path, value: null });
          // Otherwise what is known stays; it is asked again.
        },
      );
    };
    load();
    const timer = setInterval(load, minute);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [path]);
  return answer?.path === path ? answer?.value : undefined;
}
