// Hotspots that are planned: where they would stand, as the address has it.
import { bounds } from "./bounds";
import { boxAround, distance, wrapLng } from "./geo";
import { Cell } from "./state";
import type { Place } from "./types";

export interface Plan {
  pins: Place[];
  chosen: number; // which of the pins a click moves
  radius: number; // of all of them, in metres
}

/** As many as the server estimates at once. */
export const mostPins = 20;
export const radii = { ...bounds.CoverageRadius, usual: 100 };

const none: Plan = { pins: [], chosen: 0, radius: radii.usual };

/** Reads "100:40.75360,-73.98320;40.75400,-73.98320"; null for anything else. */
export function parsePlan(text: string): Plan | null {
  const [radius = "", list = ""] = text.split(":");
  const pins = list.split(";").map((pin) => pin.split(",").map(Number));
  const valid = pins.every(([lat = NaN, lng = NaN, ...more]) => Math.abs(lat) <= bounds.Latitude.most && Math.abs(lng) <= bounds.Longitude.most && more.length === 0);
  const metres = Number(radius || NaN);
  if (!valid || pins.length > mostPins || !(metres >= radii.least && metres <= radii.most)) return null;
  return { pins: pins.map(([lat = 0, lng = 0]) => ({ lat, lng })), chosen: 0, radius: metres };
}

export const writePlan = ({ pins, radius }: Plan): string => `${radius}:${pins.map(({ lat, lng }) => `${lat.toFixed(5)},${lng.toFixed(5)}`).join(";")}`;

/** Moves the chosen pin, or makes the first one. */
export function movedTo(plan: Plan, { lat, lng }: Place): Plan {
  const pins = [...plan.pins];
  pins[plan.chosen] = { lat, lng: wrapLng(lng) };
  return { ...plan, pins };
}

/** Adds a pin and chooses it. Where one stands already it goes beside that, to the east: on top of it, it would neither be seen nor add anything. */
export function added(plan: Plan, place: Place): Plan {
  if (plan.pins.length >= mostPins) return plan;
  let free = place;
  while (plan.pins.some((pin) => distance(pin, free) < plan.radius)) free = { lat: free.lat, lng: boxAround(free, 2 * plan.radius).east };
  return movedTo({ ...plan, chosen: plan.pins.length }, free);
}

/** Takes a pin away; the one before it is chosen. */
export function removed(plan: Plan, i: number): Plan {
  const pins = plan.pins.filter((_, n) => n !== i);
  return { ...plan, pins, chosen: Math.max(0, Math.min(plan.chosen, pins.length) - 1) };
}

export const plan = new Cell<Plan>(none);

export const movePin = (to: Place): void => {
  plan.value = movedTo(plan.value, to);
};

export const clearPlan = (): void => {
  plan.value = { ...none, radius: plan.value.radius };
};
