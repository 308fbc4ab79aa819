// What the server says in the head of the page.
import type { Sight } from "./sight";

export type Box = [west: number, south: number, east: number, north: number];

const said = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="beacon-${name}"]`)?.content ?? "";

/** A key of the preview, for people without a key of the network. */
export const demoKey = (): string => said("demo-key");

/** Whether anyone may see the live map. */
export const isPublic = (): boolean => said("public") === "yes";

/** Whether this is a demo, with a made-up network. */
export const isDemo = (): boolean => said("demo") !== "";

/** Whether this is the page of the preview, with its fixed records of New York. */
export const isPreview = (): boolean => said("preview") === "yes";

/** Where maps without streets have the outlines and names of New York. */
export const isNewYork = (): boolean => isPreview() || said("demo") === "new-york";

/** Where a public network is: what its staff chose to show at first, or the box around its hotspots. */
export function networkStart(): { view?: Sight; box?: Box } {
  return JSON.parse(said("start") || "{}") as { view?: Sight; box?: Box };
}

/** What lies below the hotspots; empty: outlines. */
export const basemapText = (): string => said("basemap");

export interface Network {
  name: string;
  description?: string;
  contact?: string;
  contact_link?: string;
  color?: string;
  logo?: boolean;
}

/** How the network presents itself to everyone. */
export const network = (): Network => ({ name: "Beacon", ...(JSON.parse(said("network") || "{}") as Partial<Network>) });
