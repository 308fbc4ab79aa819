// Places that have names on this map, with the zoom at which they fill it.
import type { Bounds, Place } from "../types";

export interface NamedPlace extends Place {
  name: string;
  zoom: number;
}

export const places: NamedPlace[] = [
  { name: "Manhattan", lat: 40.7794, lng: -73.9632, zoom: 11.6 },
  { name: "Brooklyn", lat: 40.6453, lng: -73.9455, zoom: 11.4 },
  { name: "Queens", lat: 40.7069, lng: -73.8178, zoom: 11 },
  { name: "Bronx", lat: 40.8523, lng: -73.8668, zoom: 11.5 },
  { name: "Staten Island", lat: 40.5803, lng: -74.1526, zoom: 11.3 },
];

/** What the map shows at first. */
export const home: Place & Bounds = { lat: 40.735, lng: -73.93, north: 40.9, south: 40.58, east: -73.75, west: -74.06 };
