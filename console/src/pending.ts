// Which hotspots wait for someone to look at them? The network has no list of
// those, so the view of the map is asked for, in parts where it is too full.
import { ask } from "./api";
import type { Bounds, Coverage, CoverageItem, Hotspot } from "./types";

const mostBoxes = 40; // requests for one look
const mostHotspots = 60; // that are looked at one by one

export interface Pending {
  hotspots: Hotspot[];
  complete: boolean; // whether everything in the box was looked at
}

export async function findPending(box: Bounds, signal: AbortSignal): Promise<Pending> {
  const found: CoverageItem[] = [];
  const boxes = [box];
  let asked = 0;
  while (boxes.length > 0 && asked < mostBoxes) {
    const part = boxes.shift();
    if (!part) break;
    asked++;
    const { data } = await ask<Coverage>(`/v1/coverage?north=${part.north}&south=${part.south}&east=${part.east}&west=${part.west}`, { signal });
    if (data.aggregated) boxes.push(...quarters(part));
    else found.push(...data.hotspots.filter(({ status }) => status === "pending"));
  }
  // Hotspots on the border of two boxes are in both.
  const ids = [...new Set(found.map(({ id }) => id))];
  const hotspots = await Promise.all(ids.slice(0, mostHotspots).map(async (id) => (await ask<Hotspot>(`/v1/hotspots/${id}`, { signal })).data));
  return { hotspots: hotspots.filter(({ location }) => !location.verified), complete: boxes.length === 0 && ids.length <= mostHotspots };
}

function quarters({ north, south, east, west }: Bounds): Bounds[] {
  const lat = (north + south) / 2;
  const across = west < east ? (west + east) / 2 : (west + east + 360) / 2;
  const lng = across > 180 ? across - 360 : across;
  return [
    { north, south: lat, east: lng, west },
    { north, south: lat, east, west: lng },
    { north: lat, south, east: lng, west },
    { north: lat, south, east, west: lng },
  ];
}
