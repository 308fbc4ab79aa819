// How streets, water, parks and names are drawn, from tiles of three schemas.
import type { ExpressionSpecification, LayerSpecification } from "maplibre-gl";
import type { Theme } from "./theme";

export type Schema = "protomaps" | "openmaptiles" | "plain";

type Expression = ExpressionSpecification;

/** Some features of a layer of the tiles. */
interface Part {
  layer: string;
  filter?: Expression;
}

/** Where a schema has what is drawn; what it does not have is left out. */
interface Plan {
  land?: Part;
  green: Part[];
  water: Part;
  rivers: Part;
  buildings?: Part;
  roads: Part;
  roadClass: Expression; // highway, major, minor, path, rail or none
  roadNames: Part;
  borders?: Part;
  waterNames?: Part;
  parkNames: Part;
  quarters: Part;
  towns: Part;
  cities: Part;
  regions?: Part;
}

const is = (property: string, ...values: string[]): Expression => ["in", ["get", property], ["literal", values]];
const areas: Expression = ["==", ["geometry-type"], "Polygon"];
const lines: Expression = ["==", ["geometry-type"], "LineString"];
const spots: Expression = ["==", ["geometry-type"], "Point"];
const named: Expression = ["has", "name"];

const greens = ["park", "wood", "forest", "grass", "grassland", "meadow", "garden", "golf_course", "cemetery", "nature_reserve", "recreation_ground", "scrub", "village_green", "allotments", "pitch", "national_park", "protected_area"];

const plans: Record<Schema, Plan> = {
  protomaps: {
    land: { layer: "earth", filter: areas },
    green: [
      { layer: "landcover", filter: is("kind", "forest", "grassland") },
      { layer: "landuse", filter: ["all", areas, is("kind", ...greens)] },
    ],
    water: { layer: "water", filter: areas },
    rivers: { layer: "water", filter: lines },
    buildings: { layer: "buildings", filter: areas },
    roads: { layer: "roads", filter: lines },
    roadClass: ["match", ["get", "kind"], "highway", "highway", ["major_road", "medium_road"], "major", "minor_road", "minor", ["path", "other"], "path", "rail", "rail", "none"],
    roadNames: { layer: "roads", filter: ["all", lines, named] },
    borders: { layer: "boundaries", filter: is("kind", "country", "region") },
    waterNames: { layer: "water", filter: ["all", spots, named] },
    parkNames: { layer: "pois", filter: ["all", named, is("kind", "park", "garden", "cemetery", "forest")] },
    quarters: { layer: "places", filter: is("kind", "neighbourhood", "macrohood") },
    towns: { layer: "places", filter: ["all", is("kind", "locality"), ["!", is("kind_detail", "city")]] },
    cities: { layer: "places", filter: ["all", is("kind", "locality"), is("kind_detail", "city")] },
    regions: { layer: "places", filter: is("kind", "country", "region") },
  },
  openmaptiles: {
    green: [
      { layer: "landcover", filter: is("class", "wood", "grass") },
      { layer: "park", filter: areas },
      { layer: "landuse", filter: is("class", "cemetery", "pitch", "garden") },
    ],
    water: { layer: "water" },
    rivers: { layer: "waterway" },
    buildings: { layer: "building" },
    roads: { layer: "transportation", filter: lines },
    roadClass: [
      "match",
      ["get", "class"],
      "motorway",
      "highway",
      ["trunk", "primary", "secondary", "tertiary"],
      "major",
      ["minor", "service", "street", "busway", "raceway"],
      "minor",
      ["path", "track", "pedestrian"],
      "path",
      ["rail", "transit"],
      "rail",
      "none",
    ],
    roadNames: { layer: "transportation_name", filter: named },
    borders: { layer: "boundary", filter: ["all", ["<=", ["to-number", ["get", "admin_level"], 99], 4], ["!=", ["get", "maritime"], 1]] },
    waterNames: { layer: "water_name", filter: ["all", spots, named] },
    parkNames: { layer: "park", filter: ["all", spots, named] },
    quarters: { layer: "place", filter: is("class", "suburb", "quarter", "neighbourhood", "borough") },
    towns: { layer: "place", filter: is("class", "town", "village", "hamlet") },
    cities: { layer: "place", filter: is("class", "city") },
    regions: { layer: "place", filter: is("class", "country", "state", "province") },
  },
  plain: {
    green: [{ layer: "parks", filter: areas }],
    water: { layer: "water", filter: areas },
    rivers: { layer: "water", filter: lines },
    roads: { layer: "roads", filter: lines },
    roadClass: [
      "match",
      ["get", "class"],
      ["motorway", "motorway_link"],
      "highway",
      ["trunk", "primary", "secondary", "tertiary", "trunk_link", "primary_link", "secondary_link", "tertiary_link"],
      "major",
      ["minor", "service", "street", "residential", "unclassified", "living_street", "road"],
      "minor",
      ["path", "track", "footway", "cycleway", "pedestrian", "steps", "bridleway"],
      "path",
      ["rail", "subway", "tram", "light_rail"],
      "rail",
      "none",
    ],
    roadNames: { layer: "roads", filter: ["all", lines, named] },
    parkNames: { layer: "places", filter: ["all", named, is("class", "park")] },
    quarters: { layer: "places", filter: is("class", "suburb", "quarter", "neighbourhood", "borough", "island") },
    towns: { layer: "places", filter: is("class", "town", "village", "hamlet") },
    cities: { layer: "places", filter: is("class", "city") },
  },
};

/** How wide a road is, in pixels, by zoom: highway, major, minor, and everything else. */
const widths: [zoom: number, highway: number, major: number, minor: number, rest: number][] = [
  [5, 0.6, 0, 0, 0],
  [9, 1.6, 0.8, 0, 0],
  [12, 3, 1.8, 0.5, 0.3],
  [14, 5, 4, 2, 0.8],
  [16, 12, 10, 7, 1.5],
  [18, 30, 26, 20, 3],
  [20, 70, 62, 50, 6],
];

function roadWidth(kind: Expression, more: number): Expression {
  const stops = widths.flatMap(([zoom, highway, major, minor, rest]) => {
    const wide = (width: number): number => (width > 0 ? width + more : 0);
    return [zoom, ["match", kind, "highway", wide(highway), "major", wide(major), "minor", wide(minor), rest]];
  });
  return ["interpolate", ["exponential", 1.6], ["zoom"], ...stops] as unknown as Expression;
}

/** The name of something in a language, or else as people there write it. */
export function nameIn(language: string): Expression {
  return language ? ["coalesce", ["get", `name:${language}`], ["get", `name_${language}`], ["get", "name"]] : ["get", "name"];
}

export function streetLayers(schema: Schema, t: Theme, language: string): LayerSpecification[] {
  const plan = plans[schema];
  return [...ground(plan, t), ...roads(plan, t), ...names(plan, t, nameIn(language))];
}

/** A layer that draws a part, if the schema has it. */
function draw(id: string, part: Part | undefined, rest: object): LayerSpecification[] {
  if (!part) return [];
  const { layer, filter } = part;
  return [{ id: `street-${id}`, source: "streets", "source-layer": layer, ...(filter && { filter }), ...rest } as LayerSpecification];
}

function ground(plan: Plan, t: Theme): LayerSpecification[] {
  const fill = (color: string) => ({ type: "fill", paint: { "fill-color": color } });
  return [
    ...draw("land", plan.land, fill(t.ground)),
    ...plan.green.flatMap((part, i) => draw(`green-${i}`, part, fill(t.green))),
    ...draw("water", plan.water, fill(t.water)),
    ...draw("rivers", plan.rivers, {
      type: "line",
      minzoom: 9,
      paint: { "line-color": t.water, "line-width": ["interpolate", ["exponential", 1.4], ["zoom"], 9, 0.6, 18, 9] },
    }),
    ...draw("buildings", plan.buildings, { type: "fill", minzoom: 14, paint: { "fill-color": t.building } }),
    ...draw("borders", plan.borders, { type: "line", paint: { "line-color": t.coast, "line-width": 1, "line-dasharray": [4, 3] } }),
  ];
}

function roads({ roads: part, roadClass }: Plan, t: Theme): LayerSpecification[] {
  const only = (...classes: string[]): Part => ({
    layer: part.layer,
    filter: ["all", ...(part.filter ? [part.filter] : []), ["in", roadClass, ["literal", classes]]] as Expression,
  });
  const carried = only("highway", "major", "minor");
  const rounded = { "line-cap": "round", "line-join": "round" };
  return [
    ...draw("paths", only("path"), {
      type: "line",
      minzoom: 14,
      paint: { "line-color": t.path, "line-width": roadWidth(roadClass, 0), "line-dasharray": [3, 2] },
    }),
    ...draw("rails", only("rail"), { type: "line", minzoom: 11, paint: { "line-color": t.rail, "line-width": 1.2, "line-dasharray": [6, 2] } }),
    ...draw("casings", carried, { type: "line", minzoom: 11, layout: rounded, paint: { "line-color": t.casing, "line-width": roadWidth(roadClass, 1.6) } }),
    ...draw("roads", carried, {
      type: "line",
      layout: { ...rounded, "line-sort-key": ["match", roadClass, "highway", 3, "major", 2, 1] },
      paint: { "line-color": ["match", roadClass, "highway", t.highway, "major", t.major, t.minor], "line-width": roadWidth(roadClass, 0) },
    }),
  ];
}

function names(plan: Plan, t: Theme, name: Expression): LayerSpecification[] {
  const label = (size: Expression | number, more: object = {}) => ({ "text-field": name, "text-font": ["sans-serif"], "text-size": size, "text-max-width": 8, ...more });
  const paint = (color: string) => ({ "text-color": color, "text-halo-color": t.halo, "text-halo-width": 1.4 });
  const grow = (from: number, small: number, to: number, large: number): Expression => ["interpolate", ["linear"], ["zoom"], from, small, to, large];
  return [
    ...draw("park-names", plan.parkNames, { type: "symbol", minzoom: 14, layout: label(11), paint: paint(t.greenLabel) }),
    ...draw("water-names", plan.waterNames, { type: "symbol", minzoom: 11, layout: label(12), paint: paint(t.waterLabel) }),
    ...draw("road-names", plan.roadNames, {
      type: "symbol",
      minzoom: 13,
      layout: label(grow(13, 10, 18, 14), { "symbol-placement": "line", "text-rotation-alignment": "map", "symbol-spacing": 300 }),
      paint: paint(t.label),
    }),
    ...draw("quarters", plan.quarters, {
      type: "symbol",
      minzoom: 11,
      maxzoom: 17,
      layout: label(grow(11, 11, 16, 14), { "text-transform": "uppercase", "text-letter-spacing": 0.1 }),
      paint: paint(t.label),
    }),
    ...draw("towns", plan.towns, { type: "symbol", minzoom: 8, maxzoom: 16, layout: label(grow(8, 11, 14, 16)), paint: paint(t.label) }),
    ...draw("cities", plan.cities, { type: "symbol", minzoom: 3, maxzoom: 15, layout: label(grow(4, 11, 12, 20)), paint: paint(t.label) }),
    ...draw("regions", plan.regions, {
      type: "symbol",
      minzoom: 2,
      maxzoom: 8,
      layout: label(grow(2, 10, 6, 14), { "text-transform": "uppercase", "text-letter-spacing": 0.1 }),
      paint: paint(t.label),
    }),
  ];
}
