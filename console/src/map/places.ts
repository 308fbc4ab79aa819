// Places that have names on this map, with the zoom at which they fill it.
import type { Position } from "geojson";
import { demoCity, isDemo, isNewYork, networkStart, type Box } from "../head";
import type { Place } from "../types";

export interface NamedPlace extends Place {
  name: string;
  zoom: number;
}

const boroughs: NamedPlace[] = [
  { name: "Manhattan", lat: 40.7794, lng: -73.9632, zoom: 11.6 },
  { name: "Brooklyn", lat: 40.6453, lng: -73.9455, zoom: 11.4 },
  { name: "Queens", lat: 40.7069, lng: -73.8178, zoom: 11 },
  { name: "Bronx", lat: 40.8523, lng: -73.8668, zoom: 11.5 },
  { name: "Staten Island", lat: 40.5803, lng: -74.1526, zoom: 11.3 },
];

/** The places of the page: boroughs of New York, or none. */
export const places = (): NamedPlace[] => (isNewYork() ? boroughs : []);

export const newYork: Box = [-74.06, 40.58, -73.75, 40.9];

/** A city whose places are made up: its name, and a circle around them, which is no outline of anything. */
export interface MadeUp {
  name: string;
  ring: Position[];
  top: Place; // of the circle
}

const corners = 96;
const room = 1.06; // a little more than the places take

/** The city of a demo that has neither outlines nor streets. */
export function madeUp(): MadeUp | null {
  const { box } = networkStart();
  if (!isDemo() || isNewYork() || !box) return null;
  const [west, south, east, north] = box;
  const middle = { lat: (south + north) / 2, lng: (west + east) / 2 };
  const narrow = Math.cos((middle.lat * Math.PI) / 180);
  const radius = (Math.max(north - south, (east - west) * narrow) / 2) * room; // in degrees of latitude
  const ring = Array.from({ length: corners + 1 }, (_, i) => {
    const angle = ((i % corners) / corners) * 2 * Math.PI;
    return [middle.lng + (radius * Math.sin(angle)) / narrow, middle.lat + radius * Math.cos(angle)];
  });
  const name = demoCity().replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => (dash ? " " : "") + letter.toUpperCase());
  return { name, ring, top: { lat: middle.lat + radius, lng: middle.lng } };
}
