// What the map shows, as the address has it.
import type { Place } from "./types";

/** The middle of the map, and how close it is looked at. */
export interface Sight extends Place {
  zoom: number;
}

const number = String.raw`(-?\d+(?:\.\d+)?)`;
const form = new RegExp(`^${number},${number},${number}$`);

/** Reads "40.75360,-73.98320,15.00"; null for anything else. */
export function parseSight(text: string): Sight | null {
  const [lat = NaN, lng = NaN, zoom = NaN] = form.exec(text)?.slice(1).map(Number) ?? [];
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && zoom >= 0 && zoom <= 24 ? { lat, lng, zoom } : null;
}

export function writeSight({ lat, lng, zoom }: Sight): string {
  return `${lat.toFixed(5)},${lng.toFixed(5)},${zoom.toFixed(2)}`;
}
