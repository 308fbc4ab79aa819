// One hotspot, beside the map.
import { useEffect } from "preact/hooks";
import * as format from "../format";
import { changes } from "../live";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { StatusBadge } from "../parts/status";
import { useAsk } from "../parts/use";
import { route } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot } from "../types";

export function HotspotCard({ id, onClose }: { id: string; onClose: () => void }) {
  const view = useCell(mapView);
  const { answer, error } = useAsk<Hotspot>(`/v1/hotspots/${encodeURIComponent(id)}`, useCell(changes));
  const hotspot = answer?.data;
  const at = hotspot?.location;
  useEffect(() => {
    if (at) {
      view?.mark(at, at.approximate);
      if (!route.value.sight) view?.ensure([at]);
    }
    return () => view?.mark(null);
  }, [view, at?.lat, at?.lng]);
  return (
    <section class="card" aria-live="polite">
      <ErrorNote error={error} />
      {hotspot && (
        <>
          <div class="head">
            <h2>{hotspot.name}</h2>
            <StatusBadge status={hotspot.status} />
          </div>
          <HotspotFacts hotspot={hotspot} />
          <div class="line">
            <button type="button" class="quiet" onClick={() => view?.fly(hotspot.location)}>
              Show on the map
            </button>
            {(hotspot.operator_id === session.who.value?.user_id || session.may("admin")) && (
              <a class="quiet" href={`#/hotspots/${hotspot.id}`}>
                Manage
              </a>
            )}
          </div>
        </>
      )}
      <button type="button" class="quiet" onClick={onClose}>
        Back
      </button>
    </section>
  );
}

export function HotspotFacts({ hotspot }: { hotspot: Hotspot }) {
  const { location, metrics } = hotspot;
  return (
    <dl class="facts">
      <dt>Id</dt>
      <dd>
        <code class="id">{hotspot.id}</code>
      </dd>
      <dt>Type</dt>
      <dd>{hotspot.type}</dd>
      {location.address && (
        <>
          <dt>Address</dt>
          <dd>{location.address}</dd>
        </>
      )}
      <dt>Location</dt>
      <dd>
        {format.degrees(location.lat)}, {format.degrees(location.lng)} · {location.verified ? "verified" : "not verified"}
        {location.approximate && (
          <>
            <br />
            <span class="small">Approximate place: the home is up to 430 m away.</span>
          </>
        )}
      </dd>
      <dt>Coverage radius</dt>
      <dd>{format.metres(hotspot.coverage_radius_m)}</dd>
      <dt>Network (SSID)</dt>
      <dd>{hotspot.device.ssid || "hidden"}</dd>
      <dt>Device</dt>
      <dd>{hotspot.device.linked ? "linked" : "not linked"}</dd>
      <dt>Hours</dt>
      <dd>{opening(hotspot)}</dd>
      {!location.approximate && (
        <>
          <dt>Load</dt>
          <dd>{format.percent(metrics.current_load)}</dd>
        </>
      )}
      <dt>Signal</dt>
      <dd>{metrics.signal_quality}</dd>
      <dt>Tier</dt>
      <dd>{metrics.performance_tier}</dd>
      <dt>Uptime, 30 days</dt>
      <dd>{format.percent(metrics.uptime_30d)}</dd>
      {hotspot.quality && (
        <>
          <dt>Check-ins, 30 days</dt>
          <dd>
            {format.count(hotspot.quality.checkins_30d)}, {format.percent(hotspot.quality.success_rate)} say that it works
          </dd>
        </>
      )}
      {!location.approximate && (
        <>
          <dt>Last 24 hours</dt>
          <dd>
            {format.gigabytes(metrics.bandwidth_used_24h_gb)}, {format.count(metrics.connections_24h)} clients
            <br />
            <span class="small">Clients: the most at once in each hour, added up.</span>
          </dd>
          <dt>Last heartbeat</dt>
          <dd>{format.time(metrics.last_seen_at)}</dd>
        </>
      )}
      {metrics.last_uncounted && (
        <>
          <dt>Did not count</dt>
          <dd>
            a heartbeat, {format.time(metrics.last_uncounted.at)}: {metrics.last_uncounted.reason.replaceAll("_", " ")}
          </dd>
        </>
      )}
    </dl>
  );
}

/** Whether it is open, and when that changes. */
export function opening(hotspot: Pick<Hotspot, "open_now" | "open_until" | "opens_at">): string {
  if (hotspot.open_now) return hotspot.open_until ? `open until ${format.time(hotspot.open_until)}` : "always open";
  return hotspot.opens_at ? `closed, opens ${format.time(hotspot.opens_at)}` : "closed";
}
