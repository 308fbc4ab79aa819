// Where the network has gaps: ground that no hotspot covers, though others are near.
import { distance } from "./geo";
import type { Bounds, Place } from "./types";

export interface Disc extends Place {
  radius_m: number;
}

export interface Gap {
  west: number;
  south: number;
  east: number;
  north: number;
  weight: number; // 0 to 1: how many hotspots are near
}

/** How near a hotspot must be to ask for another one beside it. */
const reach = 300; // metres
/** As many hotspots nearby make a gap as hot as it gets. */
const many = 12;

const metresADegree = 111_195; // of latitude

/**
 * Cuts a box into squares and returns those that no disc covers, with how much they are missed.
 * Ground with no hotspot within reach is no gap: nothing is there to be completed.
 */
export function gaps(box: Bounds, discs: Disc[], columns = 56): Gap[] {
  const width = box.east > box.west ? box.east - box.west : box.east + 360 - box.west;
  const step = width / columns;
  const shrink = Math.cos((((box.north + box.south) / 2) * Math.PI) / 180);
  const rows = Math.max(1, Math.round((box.north - box.south) / (step * shrink)));
  const high = (box.north - box.south) / rows;
  const found: Gap[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const west = box.west + column * step;
      const south = box.south + row * high;
      const middle = { lat: south + high / 2, lng: west + step / 2 };
      let near = 0;
      let covered = false;
      for (const disc of discs) {
        if (Math.abs(disc.lat - middle.lat) * metresADegree > reach + disc.radius_m) continue; // most are far away
        const away = distance(middle, disc);
        covered ||= away <= disc.radius_m;
        if (away - disc.radius_m <= reach) near++;
      }
      if (near > 0 && !covered) found.push({ west, south, east: west + step, north: south + high, weight: Math.min(1, near / many) });
    }
  }
  return found;
}
