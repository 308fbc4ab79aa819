// What the map shows at first: it is known before the map is drawn, so that it begins there.
import { ask } from "./api";
import { boxAroundAll } from "./geo";
import { isPreview, networkStart, type Box } from "./head";
import { streetBounds } from "./map/basemap";
import { newYork } from "./map/places";
import { readMine } from "./mine";
import { session } from "./session";
import type { Sight } from "./sight";
import type { Coverage, Hotspot, NetworkSettings, Place } from "./types";

export interface Start {
  view?: Sight; // what staff chose to show at first
  box?: Box; // where that is not set; without either, the world
  own?: Place[]; // hotspots of whoever is signed in: one of them is in sight, if there are any
  empty?: boolean; // whether the network has no hotspots at all
}

/** All hotspots there are, in as many clusters as an answer holds. */
const everywhere = "/v1/coverage?north=85&south=-85&east=180&west=-180";

/** Where the map begins for whoever looks. What cannot be asked for now is left out. */
export async function findStart(): Promise<Start> {
  if (isPreview()) return { box: newYork };
  const here = session.who.value ? await networkOf() : networkStart();
  if (here.view) return here;
  const box = smaller(here.box, streetBounds());
  return box ? { ...here, box } : here;
}

/** A file of streets may have a whole country, and a network one hotspot far away: the smaller box is the city. */
function smaller(a: Box | undefined, b: Box | undefined): Box | undefined {
  const size = ([west, south, east, north]: Box): number => (east - west) * (north - south);
  return a && b ? (size(b) < size(a) ? b : a) : (a ?? b);
}

async function networkOf(): Promise<Start> {
  const [settings, own] = await Promise.all([asked<NetworkSettings>("/v1/settings"), ownOnes()]);
  const start: Start = { own: (own ?? []).map(({ location: { lat, lng } }) => ({ lat, lng })) };
  if (settings?.start_view) return { ...start, view: settings.start_view };
  const all = await asked<Coverage>(everywhere);
  const box = boxAroundAll(all?.hotspots ?? []);
  return box ? { ...start, box } : { ...start, empty: all !== undefined };
}

/** The hotspots of whoever is signed in, as far as they are shown together; of an installer, those that are assigned. */
async function ownOnes(): Promise<Hotspot[] | undefined> {
  if (!session.hasAccount) return undefined;
  if (!session.assigned) return asked<Hotspot[]>("/v1/users/me/hotspots?per_page=100");
  return readMine("", new AbortController().signal).then(({ hotspots }) => hotspots, () => undefined);
}

async function asked<T>(path: string): Promise<T | undefined> {
  if (!session.who.value) return undefined; // signed out meanwhile
  try {
    return (await ask<T>(path)).data;
  } catch {
    return undefined;
  }
}
