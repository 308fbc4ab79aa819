// The commands that get a server the streets around its hotspots.
import { demoCity, type Box } from "./head";

const room = 0.05; // degrees around the hotspots
const widest = 4; // degrees: more is no city, and too much for one file

/** With the box around the hotspots, or with a city to put in if there are none yet, or they are all over the Earth. A network that is open to everyone stays so. */
export function streetCommands(box: Box | null, open: boolean): string {
  const hundredths = (degrees: number, round: (n: number) => number): string => (round(degrees * 100) / 100).toFixed(2);
  let where = "CITY";
  if (box && box[2] - box[0] < widest && box[3] - box[1] < widest && box[2] + room <= 180 && box[0] - room >= -180)
    where = [hundredths(box[0] - room, Math.floor), hundredths(Math.max(box[1] - room, -85), Math.floor), hundredths(box[2] + room, Math.ceil), hundredths(Math.min(box[3] + room, 85), Math.ceil)].join();
  return `beacon basemap get ${where} streets.pmtiles\nbeacon serve${open ? " --public" : ""} --basemap streets.pmtiles`;
}

/** The command that gets the streets of a demo's city. */
export function demoStreets(): string {
  const city = demoCity();
  return `beacon basemap get ${city.includes("-") ? `"${city.replaceAll("-", " ")}"` : city} ${city}.pmtiles`;
}
