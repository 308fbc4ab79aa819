// The map itself: the only module that knows MapLibre. Pages tell it what to
// show and hear where someone clicked.
import type { GeoJSONSource, LngLat, Map as LibreMap, MapGeoJSONFeature, Marker, StyleSpecification } from "maplibre-gl";
import type { FeatureCollection } from "geojson";
import type { GeometryCollection, Topology } from "topojson-specification";
import workerAddress from "map-worker";
import landAddress from "world-atlas/land-50m.json";
import { actingFor } from "../api";
import type { Disc, Gap } from "../gaps";
import { boxAroundAll, wrapLng } from "../geo";
import type { Box } from "../head";
import { t } from "../messages";
import { session } from "../session";
import type { Sight } from "../sight";
import type { Start } from "../start";
import { Cell } from "../state";
import type { Bounds, Place, PreviewHotspot } from "../types";
import { loadBasemap, type Basemap } from "./basemap";
import { discRadius, hotspotLayersFor, room, style } from "./layers";
import { unwrap } from "./land";
import { places } from "./places";
import { Shapes } from "./shapes";
import { onThemeChange, theme } from "./theme";

type Libre = typeof import("maplibre-gl");

/** What was under the pointer; without an id, the bare map. */
export interface Hit extends Place {
  id?: string;
}

export interface Shown {
  kind: "network" | "public" | "preview";
  records?: PreviewHotspot[];
}

const clickable = ["points", "own-points", "clusters"];
/** From it on, the network's tiles have single hotspots. */
const gapZoom = 14;
const world: Box = [-180, -60, 180, 75];
const nearest = 15; // the zoom at which a single place is shown
/** Where arrow keys move a pin: a pixel, or ten with Shift. */
const arrows: Record<string, [x: number, y: number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const calm = 500; // milliseconds
const tileSize = 512; // pixels, as the library has it
const slack = 4; // pixels around a click in which a hotspot counts as hit

export class MapView {
  #libre: Libre;
  #map: LibreMap;
  #base: Basemap | null;
  #language = "";
  #shown: Shown = { kind: "preview", records: [] };
  #ring: Marker | undefined;
  #lat: number; // that discs are drawn for
  #ready = false; // until then there is no style to add layers to
  onClick: (hit: Hit) => void = () => undefined;
  readonly sight: Cell<Sight>; // is another one after each move
  onTrouble: (status: number) => void = () => undefined;
  /** Ends a map that is not used again. */
  readonly close: () => void;

  static async create(container: HTMLElement, start: Start): Promise<MapView> {
    const libre = await import("maplibre-gl");
    libre.setWorkerUrl(new URL(workerAddress, location.href).href);
    return new MapView(libre, container, start, await loadBasemap(libre));
  }

  private constructor(libre: Libre, container: HTMLElement, start: Start, base: Basemap | null) {
    this.#libre = libre;
    this.#base = base;
    const { view, box: [west, south, east, north] = world } = start;
    this.#lat = view?.lat ?? (south + north) / 2;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#map = new libre.Map({
      container,
      style: this.#style(),
      ...(view
        ? { center: [view.lng, view.lat], zoom: view.zoom }
        : { bounds: [west, south, east, north], fitBoundsOptions: { padding: around(covered(container), container.clientWidth), maxZoom: nearest } }),
      trackResize: false, // see below
      minZoom: 1,
      maxZoom: 20,
      maxPitch: 0,
      dragRotate: false,
      attributionControl: { compact: true },
      locale: t.map.controls,
      reduceMotion: still,
      // Where names fade in, the map finds places for them a few at a time; else for all of them in each frame.
      fadeDuration: still ? 0 : 200,
      transformRequest: (url) => {
        if (!new URL(url, location.href).pathname.startsWith("/v1/")) return { url };
        return { url, headers: session.key ? { Authorization: `Bearer ${session.key}` } : session.person ? actingFor() : {} };
      },
    });
    this.#map.touchZoomRotate.disableRotation();
    this.#map.keyboard.disableRotation();
    this.#map.addControl(new libre.NavigationControl({ showCompass: false }), "top-right");
    this.#map.addControl(new libre.GeolocateControl({ positionOptions: { enableHighAccuracy: true } }), "top-right");
    // The library names the button only when the browser has said whether it knows where it is.
    container.querySelector(".maplibregl-ctrl-geolocate")?.setAttribute("aria-label", t.map.controls["GeolocateControl.FindMyLocation"]);
    this.#map.addControl(new libre.ScaleControl({ maxWidth: 96 }), "bottom-right");
    this.sight = new Cell(this.#sight());
    this.#listen();
    if (!view) this.#closer();
    const unwatch = onThemeChange(() => this.#paint());
    // While another page is shown the map has no size; it must not shrink to that.
    const resized = new ResizeObserver(() => {
      if (container.clientWidth > 0) this.#map.resize();
    });
    resized.observe(container);
    this.close = () => {
      unwatch();
      resized.disconnect();
      clearTimeout(this.#resting);
      this.#map.remove();
    };
  }

  #style(): StyleSpecification {
    return style(theme(), this.#lat, this.#base, this.#language);
  }

  #listen(): void {
    const map = this.#map;
    const busy = (is: boolean) => () => map.getContainer().setAttribute("aria-busy", String(is));
    map.on("dataloading", busy(true));
    map.on("movestart", busy(true));
    map.on("idle", busy(false));
    map.on("style.load", () => this.#reach());
    map.on("zoom", () => this.#reach());
    map.on("sourcedataloading", ({ sourceId, tile }) => {
      if (sourceId === "streets" && tile) (tile as { tileSize: number }).tileSize = tileSize; // lines are as wide as ever
    });
    map.on("load", () => {
      if (map.getSource("places")) this.#source("places").setData(collect(places()));
      map.addImage(room.name, { ...room, data: new Uint8Array(4 * room.width * room.height) });
      if (!this.#base?.covers) void this.#loadLand();
      this.#ready = true;
      this.#apply();
      this.drafts(this.#discs, this.#dragged);
    });
    // The library brings back what the card lost, except for layers that are not its own.
    map.on("webglcontextrestored", () => void map.once("idle", () => this.#apply()));
    map.on("moveend", () => {
      this.#scaleDiscs();
      this.sight.value = this.#sight();
    });
    map.on("click", (event) => {
      const { x, y } = event.point;
      const [feature] = map.queryRenderedFeatures(
        [
          [x - slack, y - slack],
          [x + slack, y + slack],
        ],
        { layers: clickable.filter((id) => map.getLayer(id)) },
      );
      if (feature?.properties["count"] !== undefined) {
        this.#enter(feature);
        return;
      }
      const place = { lat: event.lngLat.lat, lng: wrapLng(event.lngLat.lng) };
      this.onClick(feature ? { ...place, id: String(feature.properties["id"]) } : place);
    });
    for (const layer of clickable) {
      map.on("mouseenter", layer, () => (map.getCanvas().style.cursor = "pointer"));
      map.on("mouseleave", layer, () => (map.getCanvas().style.cursor = ""));
    }
    map.on("error", ({ error }) => {
      const status = (error as Error & { status?: number }).status;
      if (status !== undefined) this.onTrouble(status);
    });
  }

  /** Lets the first tiles of a file be drawn from further away than the library would: the smaller they are taken to be, the sooner. */
  #reach(): void {
    const source = this.#map.getSource("streets") as { tileSize: number } | undefined; // of the library's class for vector tiles
    const { first, from } = this.#base ?? { first: 0, from: 0 };
    if (source) source.tileSize = tileSize / 2 ** Math.max(0, Math.ceil(first - Math.max(this.#map.getZoom(), from)));
  }

  /** Begins where streets do, if they nearly do in any case. */
  #closer(): void {
    const { from } = this.#base ?? { from: 0 };
    const zoom = this.#map.getZoom();
    if (zoom < from && zoom > from - 0.5) this.#map.zoomTo(from, { around: this.#middle(), animate: false });
  }

  async #loadLand(): Promise<void> {
    const [{ feature }, response] = await Promise.all([import("topojson-client"), fetch(landAddress)]);
    const topology = (await response.json()) as Topology<{ land: GeometryCollection }>;
    this.#source("land").setData(unwrap(feature(topology, topology.objects.land)));
  }

  #source(id: string): GeoJSONSource {
    return this.#map.getSource(id) as GeoJSONSource;
  }

  /** Goes where a cluster falls apart. */
  #enter(cluster: MapGeoJSONFeature): void {
    if (cluster.geometry.type !== "Point") return;
    const [lng = 0, lat = 0] = cluster.geometry.coordinates;
    this.#map.easeTo({ center: [lng, lat], zoom: Math.min(this.#map.getZoom() + 2, 17), offset: this.#offset() });
  }

  /** Names what it can in a language; empty: as people there write it. */
  speak(language: string): void {
    if (language === this.#language) return;
    this.#language = language;
    for (const { id, layout } of this.#style().layers as { id: string; layout?: object }[])
      if (this.#base && layout && "text-field" in layout && this.#map.getLayer(id)) this.#map.setLayoutProperty(id, "text-field", layout["text-field"] as never);
  }

  /** Says what the map is about. */
  show(shown: Shown): void {
    this.#shown = shown;
    if (this.#ready) this.#apply();
  }

  #apply(): void {
    const map = this.#map;
    const tiles = { network: "/v1/coverage/tiles", public: "/open/tiles", preview: "" }[this.#shown.kind];
    for (const { id } of hotspotLayersFor(theme(), "tiles")) if (map.getLayer(id)) map.removeLayer(id);
    if (map.getLayer("discs")) map.removeLayer("discs");
    if (map.getSource("hotspots")) map.removeSource("hotspots");
    if (tiles) {
      map.addSource("hotspots", { type: "vector", tiles: [`${location.origin}${tiles}/{z}/{x}/{y}.mvt`], maxzoom: 18 });
      map.addLayer(new Shapes("hotspots", theme), this.#below());
    } else {
      map.addSource("hotspots", {
        type: "geojson",
        data: collect((this.#shown.records ?? []).map(({ id, lat, lng, risk }) => ({ lat, lng, id: String(id), status: risk }))),
        cluster: true,
        clusterRadius: 36,
        clusterMaxZoom: 13,
        clusterProperties: { count: ["+", 1] },
      });
    }
    for (const layer of hotspotLayersFor(theme(), tiles ? "tiles" : "records")) map.addLayer(layer, "draft");
  }

  /** What coverage is drawn below: names of streets, if they are ours, are read through nothing. */
  #below(): string {
    const isName = (id: string): boolean => this.#map.getLayer(id)?.type === "symbol";
    return (!this.#base?.covers && this.#map.getLayersOrder().find(isName)) || "draft";
  }

  /** Asks for what is shown anew; the server says which tiles did not change. */
  refresh(): void {
    if (this.#shown.kind === "preview" || !this.#map.getSource("hotspots")) return;
    this.#map.refreshTiles("hotspots");
    this.#rest();
  }

  #resting: ReturnType<typeof setTimeout> | undefined;

  /** Of a tile that did not change the library says nothing: a map that waited for it with something else would seem busy until it is moved. */
  #rest(): void {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      if (this.#map.getContainer().getAttribute("aria-busy") !== "true") return;
      this.#map.triggerRepaint();
      this.#rest();
    }, calm);
  }

  // Discs are drawn for one latitude; a map that went far needs another.
  #scaleDiscs(): void {
    const { lat } = this.#map.getCenter();
    if (Math.abs(lat - this.#lat) < 0.2) return;
    this.#lat = lat;
    if (this.#map.getLayer("draft")) this.#map.setPaintProperty("draft", "circle-radius", discRadius(lat));
  }

  #paint(): void {
    const layers = [...this.#style().layers, ...hotspotLayersFor(theme(), "tiles")];
    for (const layer of layers) {
      if (!this.#map.getLayer(layer.id)) continue;
      for (const [name, value] of Object.entries(layer.paint ?? {})) {
        this.#map.setPaintProperty(layer.id, name as never, value as never);
      }
    }
  }

  bounds(): Bounds {
    const box = this.#map.getBounds();
    const wide = box.getEast() - box.getWest() >= 360;
    return {
      north: Math.min(box.getNorth(), 90),
      south: Math.max(box.getSouth(), -90),
      east: wide ? 180 : wrapLng(box.getEast()),
      west: wide ? -180 : wrapLng(box.getWest()),
    };
  }

  zoom(): number {
    return this.#map.getZoom();
  }

  /** The middle of what the panel leaves of the map. */
  center(): Place {
    const { lat, lng } = this.#middle();
    return { lat, lng: wrapLng(lng) };
  }

  #middle(): LngLat {
    const { clientWidth, clientHeight } = this.#map.getContainer();
    const [right, down] = this.#offset();
    return this.#map.unproject([clientWidth / 2 + right, clientHeight / 2 + down]);
  }

  #sight(): Sight {
    const { lat, lng } = this.#map.getCenter();
    return { lat, lng: wrapLng(lng), zoom: this.#map.getZoom() };
  }

  look({ lat, lng, zoom }: Sight): void {
    this.#map.jumpTo({ center: [lng, lat], zoom });
  }

  fly(to: Place, zoom?: number): void {
    this.#map.flyTo({ center: [to.lng, to.lat], zoom: zoom ?? Math.max(this.#map.getZoom(), 15), offset: this.#offset() });
  }

  /** Goes where someone begins, at once. */
  begin({ view, box, own }: Start): void {
    if (view) this.look(view);
    else if (box) {
      this.#fit(box, false);
      this.#closer();
    }
    this.ensure(own ?? [], false);
  }

  /** Shows all of some places, unless one of them is in sight. */
  ensure(places: Place[], animate = true): void {
    const sight = this.#map.getBounds();
    if (!places.some(({ lat, lng }) => sight.contains([lng, lat]))) this.frame(places, animate);
  }

  /** Shows all of some places. */
  frame(places: Place[], animate = true): void {
    const box = boxAroundAll(places);
    if (box) this.#fit(box, animate);
  }

  #fit(box: Box, animate: boolean): void {
    const { left, bottom } = covered(this.#map.getContainer());
    this.#map.fitBounds(box, { padding: { left: left + 40, bottom: bottom + 40, top: 40, right: 60 }, maxZoom: nearest, animate });
  }

  /** From the middle of the map to the middle of what the panel leaves of it. */
  #offset(): [number, number] {
    const { left, bottom } = covered(this.#map.getContainer());
    return [left / 2, -bottom / 2];
  }

  /** Puts a ring around a place, or takes it away. An approximate one says so. */
  mark(place: Place | null, approximate = false): void {
    this.#ring?.remove();
    this.#ring = undefined;
    if (!place) return;
    const element = document.createElement("div");
    element.className = "map-ring";
    element.setAttribute("aria-hidden", "true");
    if (approximate) {
      element.classList.add("approximate");
      element.dataset.label = t.map.approximate;
    }
    this.#ring = new this.#libre.Marker({ element }).setLngLat([place.lng, place.lat]).addTo(this.#map);
  }

  /** Shows a pin with its disc, which can be dragged; null takes it away. */
  draft(at: Disc | null, onDrag?: (to: Place) => void): void {
    this.drafts(at ? [at] : [], (_, to) => onDrag?.(to));
  }

  /** Shows pins with their discs. Whoever drags one is told which, and where it is now. */
  drafts(at: Disc[], onDrag: (which: number, to: Place) => void): void {
    this.#discs = at;
    this.#dragged = onDrag;
    if (!this.#ready) return; // they are shown once the map is
    while (this.#pins.length > at.length) this.#pins.pop()?.remove();
    while (this.#pins.length < at.length) this.#pins.push(this.#newPin(this.#pins.length));
    this.#pins.forEach((pin, n) => {
      const { lat, lng } = at[n]!;
      pin.setLngLat([lng, lat]).addTo(this.#map);
      pin.getElement().dataset["number"] = at.length > 1 ? String(n + 1) : "";
    });
    this.#drawDiscs();
  }

  #points: Marker[] = [];

  /** Shows places that can be chosen, instead of those before. */
  points(places: (Place & { id: string; name: string })[], onChoose?: (id: string) => void): void {
    for (const marker of this.#points) marker.remove();
    this.#points = places.map(({ id, name, lat, lng }) => {
      const element = document.createElement("button");
      element.type = "button";
      element.className = "map-point";
      element.setAttribute("aria-label", name);
      element.addEventListener("click", (event) => {
        event.stopPropagation(); // it is not the map that was clicked
        onChoose?.(id);
      });
      return new this.#libre.Marker({ element }).setLngLat([lng, lat]).addTo(this.#map);
    });
  }

  #newPin(which: number): Marker {
    const element = document.createElement("div");
    element.className = "map-pin";
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", t.map.pin);
    element.tabIndex = 0;
    const pin = new this.#libre.Marker({ element, draggable: true, anchor: "bottom", offset: [0, -6] });
    const here = (): Place => ({ lat: pin.getLngLat().lat, lng: wrapLng(pin.getLngLat().lng) });
    pin.on("drag", () => {
      this.#discs = this.#discs.map((disc, n) => (n === which ? { ...disc, ...here() } : disc));
      this.#drawDiscs();
    });
    pin.on("dragend", () => this.#dragged(which, here()));
    element.addEventListener("keydown", (event) => {
      const step = arrows[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation(); // the map stays where it is
      const { x, y } = this.#map.project(pin.getLngLat());
      const pixels = event.shiftKey ? 10 : 1;
      pin.setLngLat(this.#map.unproject([x + step[0] * pixels, y + step[1] * pixels]));
      this.#dragged(which, here());
    });
    return pin;
  }

  #pins: Marker[] = [];
  #discs: Disc[] = [];
  #dragged: (which: number, to: Place) => void = () => undefined;

  #drawDiscs(): void {
    this.#source("draft").setData(collect(this.#discs));
  }

  /** The discs of the hotspots that are on the air and in sight; null while single ones are not shown. */
  covered(): Disc[] | null {
    if (this.#map.getZoom() < gapZoom || !this.#map.getSource("hotspots")) return null;
    const found = new Map<string, Disc>();
    for (const { geometry, properties } of this.#map.querySourceFeatures("hotspots", { sourceLayer: "hotspots" })) {
      if (properties["count"] !== undefined) return null;
      if (geometry.type !== "Point" || properties["status"] !== "online") continue;
      const [lng = 0, lat = 0] = geometry.coordinates;
      found.set(String(properties["id"]), { lat, lng, radius_m: Number(properties["radius_m"]) });
    }
    return [...found.values()];
  }

  /** Calls fn whenever the map has come to rest with all that it shows. Returns how to stop. */
  onRest(fn: () => void): () => void {
    this.#map.on("idle", fn);
    return () => void this.#map.off("idle", fn);
  }

  /** Puts a ring around some places, and a point into those of hotspots. */
  ring(places: (Place & { id?: string; status?: string })[]): void {
    if (!this.#map.getSource("own")) return void this.#map.once("load", () => this.ring(places));
    this.#source("own").setData(collect(places));
  }

  /** Colours squares of ground, the hotter the more they weigh. */
  heat(squares: Gap[]): void {
    if (!this.#map.getSource("gaps")) return;
    this.#source("gaps").setData({
      type: "FeatureCollection",
      features: squares.map(({ west, south, east, north, weight }) => ({
        type: "Feature",
        geometry: {
          type: "Polygon",
          coordinates: [
            [
              [west, south],
              [east, south],
              [east, north],
              [west, north],
              [west, south],
            ],
          ],
        },
        properties: { weight },
      })),
    });
  }
}

/** Padding with some room to all sides: a hotspot at the edge is a circle, and is seen whole. On a phone there is little. */
function around({ left, bottom, top, right }: ReturnType<typeof covered>, width: number): ReturnType<typeof covered> {
  const margin = Math.min(28, width / 48); // pixels
  return { left: left + margin, bottom: bottom + margin, top: top + margin, right: right + margin };
}

/** What the panel covers of the map: its left side, or the bottom of a phone. */
function covered(container: HTMLElement): { left: number; bottom: number; top: number; right: number } {
  const map = container.getBoundingClientRect();
  const panel = document.querySelector(".panel")?.getBoundingClientRect();
  const none = { left: 0, bottom: 0, top: 0, right: 0 };
  if (!panel) return none;
  return panel.width < map.width ? { ...none, left: panel.right - map.left } : { ...none, bottom: map.bottom - panel.top };
}

/** Places as points of the map, with what else is known of them. */
function collect(places: Place[]): FeatureCollection {
  return {
    type: "FeatureCollection",
    features: places.map(({ lat, lng, ...properties }) => ({ type: "Feature", geometry: { type: "Point", coordinates: [lng, lat] }, properties })),
  };
}
