// Places that have names on this map, with the zoom at which they fill it.
import { isNewYork, type Box } from "../head";
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
