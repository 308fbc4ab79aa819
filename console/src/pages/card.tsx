// One hotspot, beside the map.
import { now } from "../clock";
import * as format from "../format";
import { changes } from "../live";
import { t } from "../messages";
import { Ago } from "../parts/ago";
import { Facts } from "../parts/facts";
import { mapView, useMarked } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { StatusBadge } from "../parts/status";
import { useAsk } from "../parts/use";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot } from "../types";

export function HotspotCard({ id, onClose }: { id: string; onClose: () => void }) {
  const view = useCell(mapView);
  const { answer, error } = useAsk<Hotspot>(`/v1/hotspots/${encodeURIComponent(id)}`, useCell(changes));
  const hotspot = answer?.data;
  useMarked(hotspot?.location, hotspot?.location.approximate);
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
            {(hotspot.operator_id === session.who.value?.user_id || session.mayFor("hotspots", hotspot.operator_id)) && (
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
  const { location, metrics, quality } = hotspot;
  const uncounted = metrics.last_uncounted;
  return (
    <Facts
      of={[
        [t.card.id, <code class="id">{hotspot.id}</code>],
        [t.words.type, t.type[hotspot.type]],
        location.address && [t.words.address, location.address],
        [t.words.location, [whereIs(location), location.approximate && <Below text={t.card.approximate} />]],
        [t.card.radius, format.metres(hotspot.coverage_radius_m)],
        [t.words.ssid, hotspot.device.ssid || t.words.hidden],
        [t.words.device, hotspot.device.linked ? t.words.linked : t.words.notLinked],
        [t.words.hours, format.opening(hotspot.open_now, hotspot.open_until ?? hotspot.opens_at, hotspot.settings.operating_hours?.timezone, now())],
        !location.approximate && [t.card.load, format.percent(metrics.current_load)],
        [t.words.signal, t.signal[metrics.signal_quality]],
        [t.words.tier, t.tier[metrics.performance_tier]],
        [t.words.uptime30, format.uptime(hotspot.status, metrics.uptime_30d)],
        quality && [t.card.checkins, t.card.works(format.count(quality.checkins_30d), format.percent(quality.success_rate))],
        !location.approximate && [
          t.card.last24,
          [t.card.clients(format.traffic(metrics.bandwidth_used_24h_gb), metrics.connections_24h, format.count(metrics.connections_24h)), <Below text={t.card.clientsHint} />],
        ],
        !location.approximate && [t.card.lastHeartbeat, <Ago at={metrics.last_seen_at} />],
        uncounted && [t.card.uncounted, t.card.heartbeat(format.time(uncounted.at), t.card.uncountedReasons[uncounted.reason])],
      ]}
    />
  );
}

/** Where a hotspot is, and whether someone has looked. */
export const whereIs = ({ lat, lng, verified }: Hotspot["location"]): string =>
  `${format.degrees(lat)}, ${format.degrees(lng)} · ${verified ? t.words.verified : t.words.notVerified}`;

function Below({ text }: { text: string }) {
  return (
    <>
      <br />
      <span class="small">{text}</span>
    </>
  );
}
