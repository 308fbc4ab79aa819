// One hotspot, beside the map.
import { useEffect } from "preact/hooks";
import { now } from "../clock";
import * as format from "../format";
import { changes } from "../live";
import { t } from "../messages";
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
              {t.card.showOnMap}
            </button>
            {(hotspot.operator_id === session.who.value?.user_id || session.may("admin")) && (
              <a class="quiet" href={`#/hotspots/${hotspot.id}`}>
                {t.card.manage}
              </a>
            )}
          </div>
        </>
      )}
      <button type="button" class="quiet" onClick={onClose}>
        {t.words.back}
      </button>
    </section>
  );
}

export function HotspotFacts({ hotspot }: { hotspot: Hotspot }) {
  const { location, metrics } = hotspot;
  return (
    <dl class="facts">
      <dt>{t.card.id}</dt>
      <dd>
        <code class="id">{hotspot.id}</code>
      </dd>
      <dt>{t.words.type}</dt>
      <dd>{t.type[hotspot.type]}</dd>
      {location.address && (
        <>
          <dt>{t.words.address}</dt>
          <dd>{location.address}</dd>
        </>
      )}
      <dt>{t.words.location}</dt>
      <dd>
        {format.degrees(location.lat)}, {format.degrees(location.lng)} · {location.verified ? t.words.verified : t.words.notVerified}
        {location.approximate && (
          <>
            <br />
            <span class="small">{t.card.approximate}</span>
          </>
        )}
      </dd>
      <dt>{t.card.radius}</dt>
      <dd>{format.metres(hotspot.coverage_radius_m)}</dd>
      <dt>{t.words.ssid}</dt>
      <dd>{hotspot.device.ssid || t.words.hidden}</dd>
      <dt>{t.words.device}</dt>
      <dd>{hotspot.device.linked ? t.words.linked : t.words.notLinked}</dd>
      <dt>{t.words.hours}</dt>
      <dd>{format.opening(hotspot.open_now, hotspot.open_until ?? hotspot.opens_at, hotspot.settings.operating_hours?.timezone, now())}</dd>
      {!location.approximate && (
        <>
          <dt>{t.card.load}</dt>
          <dd>{format.percent(metrics.current_load)}</dd>
        </>
      )}
      <dt>{t.words.signal}</dt>
      <dd>{t.signal[metrics.signal_quality]}</dd>
      <dt>{t.words.tier}</dt>
      <dd>{t.tier[metrics.performance_tier]}</dd>
      <dt>{t.words.uptime30}</dt>
      <dd>{format.uptime(hotspot.status, metrics.uptime_30d)}</dd>
      {hotspot.quality && (
        <>
          <dt>{t.card.checkins}</dt>
          <dd>{t.card.works(format.count(hotspot.quality.checkins_30d), format.percent(hotspot.quality.success_rate))}</dd>
        </>
      )}
      {!location.approximate && (
        <>
          <dt>{t.card.last24}</dt>
          <dd>
            {t.card.clients(format.gigabytes(metrics.bandwidth_used_24h_gb), format.count(metrics.connections_24h))}
            <br />
            <span class="small">{t.card.clientsHint}</span>
          </dd>
          <dt>{t.card.lastHeartbeat}</dt>
          <dd>{format.time(metrics.last_seen_at)}</dd>
        </>
      )}
      {metrics.last_uncounted && (
        <>
          <dt>{t.card.uncounted}</dt>
          <dd>{t.card.heartbeat(format.time(metrics.last_uncounted.at), t.card.uncountedReasons[metrics.last_uncounted.reason])}</dd>
        </>
      )}
    </dl>
  );
}
