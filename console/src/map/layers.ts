// What is drawn, from the bottom up. Hotspots come from one of two sources: the
// network's tiles or the preview's records; both have the same properties.
import type { CircleLayerSpecification, ExpressionSpecification, LayerSpecification, StyleSpecification } from "maplibre-gl";
import boroughs from "../../data/boroughs.geojson";
import { pixelsPerMetre } from "../geo";
import { isNewYork } from "../head";
import type { Basemap } from "./basemap";
import { madeUp } from "./places";
import type { Theme } from "./theme";

const maxZoom = 24;

/** The radius in pixels of what has a radius_m. Exact at one latitude, as a map is. */
export function discRadius(lat: number): ExpressionSpecification {
  const at = (zoom: number): ExpressionSpecification => ["*", ["get", "radius_m"], pixelsPerMetre(zoom, lat)];
  return ["interpolate", ["exponential", 2], ["zoom"], 0, at(0), maxZoom, at(maxZoom)];
}

const isCluster: ExpressionSpecification = ["has", "count"];
const isHotspot: ExpressionSpecification = ["!", isCluster];
/** Of one's own, which the map itself puts together. */
const several: ExpressionSpecification = ["has", "point_count"];
const ownAlone = 14; // from this zoom on, it does not

const shortCount: ExpressionSpecification = [
  "case",
  [">=", ["get", "count"], 10_000],
  ["concat", ["to-string", ["round", ["/", ["get", "count"], 1000]]], "k"],
  [">=", ["get", "count"], 1000],
  ["concat", ["to-string", ["/", ["round", ["/", ["get", "count"], 100]], 10]], "k"],
  ["to-string", ["get", "count"]],
];

const clusterRadius: ExpressionSpecification = ["interpolate", ["linear"], ["log10", ["get", "count"]], 0, 9, 1, 12, 2, 16, 3, 21, 5, 30];

/** An image of nothing, two pixels wide: where it is, no name of a place is put. */
export const room = { name: "room", width: 2, height: 2 };

/** The zooms at which places have names. */
const names = { minzoom: 9, maxzoom: 14 };

function pointPaint(t: Theme): NonNullable<CircleLayerSpecification["paint"]> {
  return {
    "circle-radius": ["interpolate", ["linear"], ["zoom"], 8, 3, 14, 5, 18, 8],
    "circle-color": ["match", ["get", "status"], ["online", "Low"], t.online, t.halo],
    "circle-stroke-color": ["match", ["get", "status"], ["online", "Low"], t.halo, ["pending", "Medium"], t.pending, t.offline],
    "circle-stroke-width": ["match", ["get", "status"], ["online", "Low"], 1.5, 2.5],
  };
}

function hotspotLayers(t: Theme): LayerSpecification[] {
  const from = { source: "hotspots", "source-layer": "hotspots" };
  const share: ExpressionSpecification = ["/", ["get", "online_count"], ["get", "count"]];
  return [
    {
      ...from,
      id: "points",
      type: "circle",
      filter: isHotspot,
      paint: pointPaint(t),
    },
    {
      ...from,
      id: "clusters",
      type: "circle",
      filter: isCluster,
      paint: {
        "circle-radius": clusterRadius,
        "circle-color": [
          "case",
          ["has", "online_count"],
          ["interpolate-hcl", ["linear"], share, 0, t.offline, 0.5, t.pending, 0.9, t.online],
          t.cluster,
        ],
        "circle-opacity": 0.92,
        "circle-stroke-color": t.halo,
        "circle-stroke-width": 1.5,
      },
    },
    {
      ...from,
      id: "counts",
      type: "symbol",
      filter: ["all", isCluster, [">", ["get", "count"], 1]],
      layout: {
        "text-field": shortCount,
        "text-font": ["sans-serif"],
        "text-size": ["interpolate", ["linear"], ["log10", ["get", "count"]], 0, 10, 2, 11.5, 4, 13],
        "text-allow-overlap": true,
        "text-ignore-placement": true,
      },
      paint: { "text-color": "#ffffff" },
    },
    {
      ...from,
      ...names,
      id: "room",
      type: "symbol",
      layout: {
        "icon-image": room.name,
        "icon-size": ["case", isCluster, clusterRadius, 6], // half of its width, so the radius of a circle
        "icon-allow-overlap": true,
      },
    },
  ];
}

function draftLayers(t: Theme, lat: number): LayerSpecification[] {
  return [
    {
      id: "draft",
      type: "circle",
      source: "draft",
      paint: {
        "circle-radius": discRadius(lat),
        "circle-color": t.accent,
        "circle-opacity": 0.18,
        "circle-stroke-color": t.accent,
        "circle-stroke-width": 2,
        "circle-pitch-alignment": "map",
      },
    },
  ];
}

const nothing = { type: "FeatureCollection" as const, features: [] };

/** What is not covered. */
function gapLayer(t: Theme): LayerSpecification {
  return { id: "gaps", type: "fill", source: "gaps", paint: { "fill-color": t.gap, "fill-opacity": ["*", 0.45, ["get", "weight"]], "fill-antialias": false } };
}

/** The city of a demo whose places are made up. */
function circle(t: Theme): Below {
  const city = madeUp();
  if (!city) return { sources: {}, layers: [] };
  return {
    sources: {
      city: { type: "geojson", data: { type: "Polygon", coordinates: [city.ring] } },
      "city-name": { type: "geojson", data: { type: "Feature", geometry: { type: "Point", coordinates: [city.top.lng, city.top.lat] }, properties: { name: city.name } } },
    },
    layers: [
      { id: "city", type: "fill", source: "city", minzoom: 7, paint: { "fill-color": t.borough } },
      { id: "city-line", type: "line", source: "city", minzoom: 7, paint: { "line-color": t.boroughLine, "line-width": 0.9 } },
      {
        id: "city-name",
        type: "symbol",
        source: "city-name",
        layout: { "text-field": ["get", "name"], "text-font": ["sans-serif"], "text-size": 15, "text-letter-spacing": 0.12, "text-transform": "uppercase", "text-anchor": "top", "text-offset": [0, 0.5] },
        paint: { "text-color": t.label, "text-halo-color": t.borough, "text-halo-width": 1.4 },
      },
    ],
  };
}

type Below = Pick<StyleSpecification, "sources" | "layers">;

/** Where there are no streets, or not yet at this zoom: in New York outlines and names of its boroughs, in another demo its circle. */
function outlines(t: Theme): Below {
  if (!isNewYork()) return circle(t);
  return {
    sources: {
      boroughs: { type: "geojson", data: new URL(boroughs, location.href).href, attribution: "NYC Planning" },
      places: { type: "geojson", data: nothing },
    },
    layers: [
      { id: "boroughs", type: "fill", source: "boroughs", minzoom: 6, paint: { "fill-color": t.borough } },
      { id: "borough-lines", type: "line", source: "boroughs", minzoom: 6, paint: { "line-color": t.boroughLine, "line-width": 0.9 } },
      {
        id: "place-names",
        type: "symbol",
        source: "places",
        ...names,
        layout: {
          "text-field": ["get", "name"],
          "text-font": ["sans-serif"],
          "text-size": 13,
          "text-letter-spacing": 0.12,
          "text-transform": "uppercase",
          // Hotspots come first: a name goes where there is room beside its place, or is left out.
          "text-variable-anchor": ["center", "right", "left", "top", "bottom", "top-right", "bottom-right", "top-left", "bottom-left"],
          "text-radial-offset": 1.5,
          "text-justify": "auto",
        },
        paint: { "text-color": t.label, "text-halo-color": t.halo, "text-halo-width": 1.4, "text-opacity": 0.8 },
      },
    ],
  };
}

/** Streets, on ground that ends where their file does; outlines until they begin. */
function streets(t: Theme, base: Basemap, language: string): Below {
  const { sources, layers } = base.from > names.minzoom ? outlines(t) : { sources: {}, layers: [] };
  const [west, south, east, north] = base.bounds;
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return {
    sources: { ...sources, ...base.sources, ground: { type: "geojson", data: { type: "Polygon", coordinates: [corners] } } },
    layers: [
      ...layers.map((layer) => ({ ...layer, maxzoom: base.from })),
      ...(base.land
        ? [{ id: "ground", type: "fill", source: "ground", minzoom: base.from, paint: { "fill-color": t.ground, "fill-opacity": appearing(base), "fill-antialias": false } } as LayerSpecification]
        : []),
      ...base.layers(t, language),
    ],
  };
}

/** The zooms between which outlines, which are coarse, give way to what is near. */
const turn = (base: Basemap | null): [number, number] => (base && base.from > 8 ? [base.from, base.from + 0.5] : [8, 10]);

/** A file that has the whole Earth takes over as its outlines fade; another one at once, where it begins. */
const appearing = ({ from }: Basemap): ExpressionSpecification | number => (from < 8 ? ["interpolate", ["linear"], ["zoom"], 8, 0, 10, 1] : 1);

/** Without glyphs of a foreign style, labels are drawn by the browser's own fonts: none are fetched. */
export function style(t: Theme, lat: number, base: Basemap | null, language: string): StyleSpecification {
  const below = !base ? outlines(t) : base.covers ? { sources: base.sources, layers: base.layers(t, language) } : streets(t, base, language);
  const isName = ({ type }: LayerSpecification): boolean => type === "symbol" && !base?.covers; // another server's style stays in its order
  const [ground, written] = [below.layers.filter((layer) => !isName(layer)), below.layers.filter(isName)];
  const bare = !base && !isNewYork(); // when close, all is land: where the sea begins, the outlines do not know
  const near = base?.land ? t.ground : bare ? t.land : t.nearLand;
  const [far, close] = turn(base);
  const change = (from: string | number, to: string | number): ExpressionSpecification => ["interpolate", ["linear"], ["zoom"], far, from, close, to];
  const land: LayerSpecification[] = [
    { id: "land", type: "fill", source: "land", paint: { "fill-color": change(t.land, near) } },
    { id: "coast", type: "line", source: "land", maxzoom: close, paint: { "line-color": t.coast, "line-width": 0.7, "line-opacity": change(1, 0) } },
  ];
  return {
    version: 8,
    ...base?.more,
    sources: {
      land: { type: "geojson", data: nothing, attribution: "Natural Earth" },
      gaps: { type: "geojson", data: nothing },
      draft: { type: "geojson", data: nothing },
      own: { type: "geojson", data: nothing, cluster: true, clusterMaxZoom: ownAlone - 1, clusterRadius: 32 },
      ...below.sources,
    },
    layers: [
      { id: "background", type: "background", paint: { "background-color": bare ? change(t.water, near) : t.water } },
      ...(base?.covers ? [] : land),
      ...ground,
      gapLayer(t),
      ...written,
      ...draftLayers(t, lat),
      // The hotspots of who is signed in, where they are: of a home that is hidden, the tiles tell another place.
      { id: "own-points", type: "circle", source: "own", filter: ["has", "status"], minzoom: ownAlone, paint: pointPaint(t) },
      // A ring around each; around several, where their rings would run together.
      {
        id: "own",
        type: "circle",
        source: "own",
        minzoom: 9,
        paint: {
          "circle-radius": ["interpolate", ["linear"], ["zoom"], 9, ["case", several, 10, 4], 14, ["case", several, 14, 10]],
          "circle-opacity": 0,
          "circle-stroke-color": t.accent,
          "circle-stroke-width": ["interpolate", ["linear"], ["zoom"], 9, 1.5, 14, 2.5],
        },
      },
    ],
  };
}

/** The layers that hold hotspots, which are put over the style and changed with their source. */
export function hotspotLayersFor(t: Theme, source: "tiles" | "records"): LayerSpecification[] {
  const layers = hotspotLayers(t);
  if (source === "tiles") return layers;
  return layers.map((layer) => {
    const { "source-layer": _, ...rest } = layer as LayerSpecification & { "source-layer"?: string };
    return rest as LayerSpecification;
  });
}
