// What lies below the hotspots, where the server names it: a PMTiles file that it
// serves itself, or a style of another server.
import type { AddProtocolAction, LayerSpecification, SourceSpecification, StyleSpecification } from "maplibre-gl";
import { basemapText, type Box } from "../head";
import { streetLayers, type Schema } from "./streets";
import type { Theme } from "./theme";

/** As the page's head has it. */
interface Named {
  file?: string; // the path of a PMTiles file
  schema?: Schema;
  minzoom?: number;
  maxzoom?: number;
  bounds?: Box;
  attribution?: string;
  style?: string; // the URL of a style
}

export interface Basemap {
  sources: Record<string, SourceSpecification>;
  layers: (t: Theme, language: string) => LayerSpecification[];
  more: Partial<StyleSpecification>; // glyphs and images
  land: boolean; // whether all ground is land, unless there is water on it
  first: number; // the zoom of the first tiles of streets
  from: number; // the zoom from which on they are drawn
  bounds: Box; // outside of which they are not
  covers: boolean; // the outlines of the continents, which are then neither drawn nor credited
}

function head(): Named | null {
  const said = basemapText();
  return said ? (JSON.parse(said) as Named) : null;
}

/** Whether there is a file whose names can be searched. */
export const hasNames = (): boolean => head()?.file !== undefined;

const wide = 20; // degrees; a file of more than that says little about where the network is

/** The bounds of a file that has a part of the Earth. */
export function streetBounds(): Box | undefined {
  const { bounds } = head() ?? {};
  return bounds && bounds[2] - bounds[0] < wide ? bounds : undefined;
}

const fewTiles = 64;
const further = 2; // zooms

/**
 * The zoom from which on a file is drawn. One whose tiles begin close to the ground is drawn from
 * further away, with its first tiles, if it has so few of them that all may be in sight at once:
 * a whole city fits a phone.
 */
export function drawnFrom(minzoom: number, [west, south, east, north]: Box): number {
  const row = (lat: number): number => 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI);
  const n = 2 ** minzoom;
  const across = Math.floor(((east + 180) / 360) * n) - Math.floor(((west + 180) / 360) * n) + 1;
  const down = Math.floor(row(south) * n) - Math.floor(row(north) * n) + 1;
  return across * down <= fewTiles ? Math.max(0, minzoom - further) : minzoom;
}

type Libre = Pick<typeof import("maplibre-gl"), "addProtocol">;

/** Gets ready what the server names. A style that cannot be had leaves the outlines. */
export async function loadBasemap(libre: Libre): Promise<Basemap | null> {
  const base = head();
  if (!base) return null;
  const { Protocol } = await import("pmtiles");
  libre.addProtocol("pmtiles", new Protocol().tilev4 as AddProtocolAction);
  if (base.style) return loadStyle(base.style);
  const { file = "", schema = "protomaps", minzoom = 0, maxzoom = 14, bounds = [-180, -85, 180, 85], attribution = "" } = base;
  return {
    sources: {
      streets: { type: "vector", tiles: [`pmtiles://${location.origin}${file}/{z}/{x}/{y}`], minzoom, maxzoom, bounds, attribution },
    },
    layers: (t, language) => streetLayers(schema, t, language),
    more: {},
    land: schema !== "protomaps", // which alone has land
    first: minzoom,
    from: drawnFrom(minzoom, bounds),
    bounds,
    covers: false,
  };
}

async function loadStyle(url: string): Promise<Basemap | null> {
  try {
    const response = await fetch(url);
    return embedded((await response.json()) as StyleSpecification);
  } catch {
    return null;
  }
}

/** A style below ours. Its sources and layers get names of their own: most have a layer "background", as ours has. */
export function embedded({ sources, layers, glyphs, sprite }: StyleSpecification): Basemap {
  const own = (id: string): string => `style-${id}`;
  const below = layers.map((layer) => ({ ...layer, id: own(layer.id), ...("source" in layer && { source: own(layer.source) }) }) as LayerSpecification);
  return {
    sources: Object.fromEntries(Object.entries(sources).map(([id, source]) => [own(id), source])),
    layers: () => below,
    more: { ...(glyphs && { glyphs }), ...(sprite && { sprite }) },
    land: false,
    first: 0,
    from: 0,
    bounds: [-180, -85, 180, 85],
    covers: true,
  };
}
