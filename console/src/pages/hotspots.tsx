// The hotspots of whoever is signed in.
import * as format from "../format";
import { changes } from "../live";
import { SearchField } from "../parts/field";
import { useListing } from "../parts/listing";
import { ErrorNote } from "../parts/note";
import { Pager } from "../parts/pager";
import { StatusBadge } from "../parts/status";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot } from "../types";

export function HotspotsPage() {
  const mine = useListing<Hotspot>("/v1/users/me/hotspots", {}, useCell(changes));
  const { answer, error, loading, searched } = mine;
  const hotspots = answer?.data ?? [];
  return (
    <section class="page">
      <div class="head">
        <h1>My hotspots</h1>
        {session.may("hotspots:write") && (
          <a class="button" href="#/register">
            Register a hotspot
          </a>
        )}
      </div>
      <SearchField label="Search by name" value={mine.text} onSearch={mine.search} />
      <ErrorNote error={error} />
      {answer && hotspots.length === 0 && (
        <p class="card" role="status">
          {searched ? `None of your hotspots has “${searched}” in its name.` : "You have no hotspots yet."}
        </p>
      )}
      {loading && !answer && <p class="waiting">One moment…</p>}
      {hotspots.length > 0 && (
        <div class="card wide">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Status</th>
                <th scope="col">Type</th>
                <th scope="col" class="number">
                  Uptime, 30 days
                </th>
                <th scope="col" class="number">
                  Traffic, 24 hours
                </th>
                <th scope="col">To do</th>
              </tr>
            </thead>
            <tbody>
              {hotspots.map((hotspot) => (
                <tr key={hotspot.id}>
                  <th scope="row">
                    <a href={`#/hotspots/${hotspot.id}`}>{hotspot.name}</a>
                  </th>
                  <td>
                    <StatusBadge status={hotspot.status} />
                  </td>
                  <td>{hotspot.type}</td>
                  <td class="number">{format.percent(hotspot.metrics.uptime_30d)}</td>
                  <td class="number">{format.gigabytes(hotspot.metrics.bandwidth_used_24h_gb)}</td>
                  <td>{toDo(hotspot)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager pagination={answer?.pagination} onPage={mine.turn} />
    </section>
  );
}

function toDo({ location, device }: Hotspot): string {
  const missing = [!location.verified && "verification", !device.linked && "link the device"].filter(Boolean);
  return missing.join(", ") || "–";
}
