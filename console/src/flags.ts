// What the flags of the review mean.
import type { FlagKind } from "./types";

export const kindTexts: Record<FlagKind, { title: string; text: string }> = {
  interleaved_boots: { title: "Interleaved boots", text: "Several boots carried traffic at the same time, so several devices use one key." },
  many_addresses: { title: "Many addresses", text: "Its device sent from more than five addresses on a day, so several devices may use one key." },
  above_bandwidth: { title: "Above its bandwidth", text: "More traffic in an hour than the bandwidth of the hotspot, in both directions." },
  close_together: { title: "Close together", text: "Ten or more others of its operator within 50 m." },
  one_address: { title: "One address", text: "Others of its operator, 200 m or more away, send from the same address." },
  ring_around_visit: { title: "Ring around a visit", text: "Visits found it and others of its operator at one place, but they are registered elsewhere." },
  mac_again: { title: "MAC address again", text: "Its MAC address was registered three times or more in 30 days." },
  too_regular: { title: "Too regular", text: "Traffic, speed tests or outages that are equal to each other." },
  traffic_without_clients: { title: "Traffic without clients", text: "Traffic in hours in which no client was connected." },
  many_boots: { title: "Many boots", text: "More boots on a day than a device has that is restarted every quarter of an hour." },
  linked_again: { title: "Linked again", text: "Linked for less than an hour, twice or more in three days." },
  short_hours: { title: "Short hours", text: "Open for less than seven hours a week." },
  sparse_beats: { title: "Sparse heartbeats", text: "Far fewer heartbeats than one a minute." },
  radius_grown: { title: "Large radius", text: "A radius of more than twice the usual one of its type." },
};

/** The name of a fact, for people: “within_m” is a distance in metres. */
export function factText(name: string): string {
  const words = name.replace(/_m$/, ", m").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
