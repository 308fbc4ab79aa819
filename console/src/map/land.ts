// The outlines of land, as a flat map can fill them. A ring of them that goes across ±180°
// would be drawn back all around the Earth.
import type { Feature, FeatureCollection, Geometry, Position } from "geojson";

/** Lets each ring go on beyond ±180° instead of jumping there. */
export function unwrap(land: Feature | FeatureCollection): FeatureCollection {
  const features = land.type === "FeatureCollection" ? land.features : [land];
  return { type: "FeatureCollection", features: features.map((one) => ({ ...one, geometry: unwrapGeometry(one.geometry) })) };
}

function unwrapGeometry(geometry: Geometry): Geometry {
  switch (geometry.type) {
    case "Polygon":
      return { ...geometry, coordinates: geometry.coordinates.map(unwrapRing) };
    case "MultiPolygon":
      return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(unwrapRing)) };
    default:
      return geometry;
  }
}

function unwrapRing(ring: Position[]): Position[] {
  const [first] = ring;
  if (!first) return ring;
  let turns = 0;
  let last = first;
  const out = ring.map((at) => {
    const [lng = 0, lat = 0] = at;
    const step = lng - (last[0] ?? 0);
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    last = at;
    return [lng + 360 * turns, lat];
  });
  if (turns === 0) return out;
  // It goes around a pole, which a flat map has as a line.
  const [lng = 0, lat = 0] = first;
  const pole = lat < 0 ? -90 : 90;
  return [...out, [lng + 360 * turns, pole], [lng, pole], [lng, lat]];
}
