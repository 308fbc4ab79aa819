// What the server says in the head of the page.
import type { Sight } from "./sight";
import { Cell } from "./state";
import type { NetworkSettings } from "./types";

export type Box = [west: number, south: number, east: number, north: number];

const said = (name: string): string => globalThis.document?.querySelector<HTMLMetaElement>(`meta[name="beacon-${name}"]`)?.content ?? "";

const unnamed = "Beacon";

/** A key of the preview, for people without a key of the network. */
export const demoKey = (): string => said("demo-key");

/** Whether anyone may see the live map. */
export const isPublic = (): boolean => said("public") === "yes";

/** The city of a demo, such as new-york; empty: it is none. */
export const demoCity = (): string => said("demo");

/** Whether this is a demo, with a made-up network. */
export const isDemo = (): boolean => demoCity() !== "";

/** Whether this is the page of the preview, with its fixed records of New York. */
export const isPreview = (): boolean => said("preview") === "yes";

/** Where maps without streets have the outlines and names of New York. */
export const isNewYork = (): boolean => isPreview() || demoCity() === "new-york";

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
  logo?: boolean;
  no_rewards?: boolean;
  timezone?: string; // of those who live there; missing: it was not set
  version: number; // counts changes, for images that change with it
}

/** How the network presents itself to everyone. */
export const network = new Cell<Network>({ name: unnamed, version: 0, ...(JSON.parse(said("network") || "{}") as Partial<Network>) });

/** Whether it has a name of its own. */
export const isNamed = (): boolean => network.value.name !== unnamed;

/** Whether hotspots earn something. If not, no page speaks of it. */
export const rewardsOn = (): boolean => !network.value.no_rewards;

const follows = 1_000; // milliseconds until all servers have heard of a change

/** Shows how the network presents itself from now on, without loading the page again. */
export function presented({ name, description, logo_type, timezone }: NetworkSettings): void {
  setTimeout(() => {
    const { value: last } = network;
    const version = last.version + 1;
    network.value = { ...last, name: name ?? unnamed, description: description ?? "", logo: logo_type !== null, timezone: timezone ?? "", version };
    for (const link of document.querySelectorAll<HTMLLinkElement>('link[href^="/brand.css"]')) link.href = `/brand.css?${version}`;
  }, follows);
}
