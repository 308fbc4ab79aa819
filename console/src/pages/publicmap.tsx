// The live map for everyone, where the network is public: what its open feeds show.
import { useEffect, useState } from "preact/hooks";
import { now } from "../clock";
import * as format from "../format";
import { networkStart } from "../head";
import { t } from "../messages";
import { Facts } from "../parts/facts";
import { mapView, useMapClick, useMarked } from "../parts/maphost";
import { Panel } from "../parts/panel";
import { Search } from "../parts/search";
import { StatusBadge } from "../parts/status";
import { route, showOnMap } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Place, Status } from "../types";

interface Shown {
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
  };
}

const minute = 60_000; // feeds change as often

/** Asks a feed, and again every minute. undefined: not known yet; null: there is none. */
function useFeed<T>(path: string | null): T | null | undefined {
  const [answer, setAnswer] = useState<{ path: string; value: T | null }>();
  useEffect(() => {
    if (!path) return;
    const load = (): void => {
      fetch(path).then(
        async (response) => {
          if (response.ok) setAnswer({ path, value: (await response.json()) as T });
          else if (response.status === 404) setAnswer({ path, value: null });
        },
        () => undefined, // what is known stays; it is asked again
      );
    };
    load();
    const timer = setInterval(load, minute);
    return () => clearInterval(timer);
  }, [path]);
  return answer?.path === path ? answer?.value : undefined;
}

/** Whether the network has no public hotspots; only where the page's head knows of none is it asked. */
function useEmpty(): boolean {
  const known = Object.keys(networkStart()).length > 0;
  const some = useFeed<{ features: unknown[] }>(known ? null : "/open/collections/hotspots/items?limit=1");
  return some?.features.length === 0;
}

export function PublicMap() {
  const view = useCell(mapView);
  const notice = useCell(session.notice);
  const empty = useEmpty();
  const at = useCell(route);
  const chosen = at.page === "" ? at.id : "";

  useMapClick(({ id = "" }) => showOnMap(id));
  useEffect(() => {
    if (!view) return;
    view.show({ kind: "public" });
    const timer = setInterval(() => view.refresh(), minute);
    return () => clearInterval(timer);
  }, [view]);

  const find = (found: Place & { zoom?: number }): void => {
    showOnMap("");
    view?.fly(found, found.zoom);
  };
  return (
    <Panel title={t.map.network} about={chosen}>
      <h1>{t.map.title}</h1>
      {notice && <p class="note">{notice}</p>}
      <Search
        hint={t.search.public}
        nothing={t.search.publicNothing}
        candidates={[]}
        onText={() => undefined}
        onPick={find}
        onId={showOnMap}
      />
      {chosen ? (
        <PublicCard id={chosen} />
      ) : (
        <p class="hint">{(empty ? t.public.empty : t.public.intro)((text) => <a href="#/sign-in">{text}</a>)}</p>
      )}
      <ul class="legend" aria-label={t.map.colours}>
        <li class="online">{t.map.online}</li>
        <li class="offline">{t.map.offline}</li>
      </ul>
    </Panel>
  );
}

function PublicCard({ id }: { id: string }) {
  const shown = useFeed<Shown>(`/open/collections/hotspots/items/${encodeURIComponent(id)}`);
  const [lng, lat] = shown?.geometry.coordinates ?? [];
  useMarked(lat !== undefined && lng !== undefined ? { lat, lng } : undefined);
  return (
    <section class="card" aria-live="polite">
      {shown === null && <p>{t.public.gone}</p>}
      {shown && <Properties {...shown.properties} />}
      <button type="button" class="quiet" onClick={() => showOnMap("")}>
        {t.words.back}
      </button>
    </section>
  );
}

function Properties({ id, name, status, address, ssid, open_now, open_until, opens_at, timezone }: Shown["properties"]) {
  return (
    <>
      <div class="head">
        <h2>{name ?? id}</h2>
        <StatusBadge status={status} />
      </div>
      <Facts
        of={[
          ssid && [t.words.network, ssid],
          address && [t.words.address, address],
          [t.words.hours, format.opening(open_now, open_until ?? opens_at, timezone, now())],
        ]}
      />
      <div class="line">
        <a class="quiet" href={`/h/${encodeURIComponent(id)}`}>
          {t.public.page}
        </a>
      </div>
    </>
  );
}
