import type { Bounds, Place } from "./types";

const earthRadius = 6_371_008.8; // metres, as the server has it
const radians = Math.PI / 180;

/** Metres along the great circle. */
export function distance(a: Place, b: Place): number {
  const lat = (b.lat - a.lat) * radians;
  const lng = (b.lng - a.lng) * radians;
  const h = Math.sin(lat / 2) ** 2 + Math.cos(a.lat * radians) * Math.cos(b.lat * radians) * Math.sin(lng / 2) ** 2;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** How many pixels of a Mercator map one metre takes at a zoom and a latitude. */
export function pixelsPerMetre(zoom: number, lat: number): number {
  const round = 2 * Math.PI * earthRadius * Math.cos(lat * radians);
  return (512 * 2 ** zoom) / round;
}

export function wrapLng(lng: number): number {
  return ((((lng + 180) % 360) + 360) % 360) - 180;
}

/** A box around a place, wide enough for a disc with some room. */
export function boxAround(place: Place, metres: number): Bounds {
  const lat = metres / (earthRadius * radians);
  const lng = lat / Math.max(Math.cos(place.lat * radians), 0.01);
  return {
    north: Math.min(90, place.lat + lat),
    south: Math.max(-90, place.lat - lat),
    east: wrapLng(place.lng + lng),
    west: wrapLng(place.lng - lng),
  };
}

/** The box around boxes. Of those on both sides of ±180° it is the whole belt. */
export function boxOf(boxes: Bounds[]): Bounds {
  const across = boxes.some(({ east, west }) => east < west);
  return {
    north: Math.max(...boxes.map(({ north }) => north)),
    south: Math.min(...boxes.map(({ south }) => south)),
    east: across && boxes.length > 1 ? 180 : Math.max(...boxes.map(({ east }) => east)),
    west: across && boxes.length > 1 ? -180 : Math.min(...boxes.map(({ west }) => west)),
  };
}

/** The smallest box around places, without the widest gap between them; its east may be beyond 180°. null: around none. */
export function boxAroundAll(places: Place[]): [west: number, south: number, east: number, north: number] | null {
  const lngs = places.map(({ lng }) => lng).sort((a, b) => a - b);
  const [first] = lngs;
  if (first === undefined) return null;
  const gaps = lngs.map((lng, i) => (lngs[i + 1] ?? first + 360) - lng);
  const widest = gaps.indexOf(Math.max(...gaps));
  const east = lngs[widest] ?? first;
  const west = lngs[widest + 1] ?? first;
  const lats = places.map(({ lat }) => lat);
  return [west, Math.min(...lats), east < west ? east + 360 : east, Math.max(...lats)];
}

/** Reads "40.7536, -73.9832"; null for anything else. */
export function parsePlace(text: string): Place | null {
  const found = /^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text);
  if (!found) return null;
  const lat = Number(found[1]);
  const lng = Number(found[2]);
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : null;
}

/** A place as it is sent: a pin says nothing of the millimetres. */
export function roundPlace({ lat, lng }: Place): Place {
  const round = (degrees: number): number => Math.round(degrees * 1e6) / 1e6;
  return { lat: round(lat), lng: round(lng) };
}

/** The place that a text names in degrees, as a reason of staff may. */
export function placeIn(text: string): Place | null {
  const named = /-?\d{1,2}\.\d{4,}, -?\d{1,3}\.\d{4,}/.exec(text);
  return named && parsePlace(named[0]);
}
