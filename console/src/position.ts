// Where the browser is.
import { ApiError } from "./api";
import { t } from "./messages";
import type { Place } from "./types";

export interface Position extends Place {
  accuracy_m: number;
}

/** Asks the browser, which asks its user. */
export async function position(): Promise<Position> {
  try {
    const { coords } = await new Promise<GeolocationPosition>((resolve, reject) =>
      navigator.geolocation.getCurrentPosition(resolve, reject, { enableHighAccuracy: true, timeout: 20_000 }),
    );
    return { lat: coords.latitude, lng: coords.longitude, accuracy_m: coords.accuracy };
  } catch {
    throw new ApiError(0, "position", t.errors.position, "");
  }
}

const radians = Math.PI / 180;

/** In which direction one place lies from another. */
export function direction(from: Place, to: Place): string {
  const lng = (to.lng - from.lng) * radians;
  const [a, b] = [from.lat * radians, to.lat * radians];
  const bearing = Math.atan2(Math.sin(lng) * Math.cos(b), Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(lng));
  return t.visits.directions[Math.round(bearing / (45 * radians) + 8) % 8] ?? "";
}

/** The address that opens the maps of a phone at a place, for directions. */
export function mapsOf({ lat, lng }: Place): string {
  return `geo:${lat},${lng}?q=${lat},${lng}`;
}

/** The way to a place: an Android phone asks which of its maps, and every browser has OpenStreetMap. */
export function directionsTo(to: Place, from: Place | null): string {
  if (/Android/.test(navigator.userAgent)) return mapsOf(to);
  const write = ({ lat, lng }: Place): string => `${lat.toFixed(5)},${lng.toFixed(5)}`;
  return `https://www.openstreetmap.org/directions?${from ? `from=${write(from)}&` : ""}to=${write(to)}`;
}
