// The ground that discs cover, as numbers for the graphics card.
import type { Feature } from "geojson";
import { pixelsPerMetre } from "../geo";

/** Where a status has its numbers; other statuses are offline. */
export const statuses = ["online", "pending", "offline"] as const;

/** How many numbers a disc has: x and y of its middle, its radius, and which status. */
export const numbers = 4;

/** A point of the Mercator map, whose width and height are 1. */
export type Spot = [x: number, y: number];

export function mercator(lat: number, lng: number): Spot {
  const sin = Math.sin((lat * Math.PI) / 180);
  return [lng / 360 + 0.5, 0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI)];
}

/**
 * The discs of single hotspots, in parts of the map's width from a spot near them: half of
 * the digits that a card computes with would go into where on the Earth that is. A hotspot
 * that several tiles have is there several times, which a union does not mind.
 */
export function packDiscs(features: Pick<Feature, "geometry" | "properties">[], [x, y]: Spot): Float32Array {
  const packed = new Float32Array(features.length * numbers);
  let at = 0;
  for (const { geometry, properties } of features) {
    if (geometry.type !== "Point" || !properties || properties["count"] !== undefined) continue;
    const [lng = 0, lat = 0] = geometry.coordinates;
    const metres = Number(properties["radius_m"]);
    if (!(metres > 0)) continue;
    const [px, py] = mercator(lat, lng);
    const across = px - x;
    const status = statuses.indexOf(properties["status"]);
    packed.set([across - Math.round(across), py - y, (metres * pixelsPerMetre(0, lat)) / 512, status < 0 ? statuses.length - 1 : status], at);
    at += numbers;
  }
  return packed.subarray(0, at);
}
