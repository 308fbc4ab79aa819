// Which page is shown: what stands behind the # of the address.
import { plan, writePlan } from "./plan";
import { parseSight, writeSight, type Sight } from "./sight";
import { Cell } from "./state";

export interface Route {
  page: string; // the first word; empty for the map
  id: string; // the second: the hotspot that is shown
  part: string; // the third: what of it is looked for
  query: Record<string, string>; // what stands behind a ?
  sight: Sight | null; // what the map is asked to show
}

function read(): Route {
  const [path = "", asked = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", id = "", part = ""] = path.split("/").map(decodeWord);
  const query = Object.fromEntries(new URLSearchParams(asked));
  return { page: page === "map" ? "" : page, id, part, query, sight: parseSight(query.at ?? "") };
}

function decodeWord(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word; // whoever typed a lone % gets a page that does not exist
  }
}

export const route = new Cell<Route>(read());

let unsaved = ""; // what to ask before the page is left; empty: nothing
let address = location.hash; // of the route; another one stands there until the browser tells of it

/** Asks before the page is left, or no longer if the text is empty: something on it is not saved. */
export function askBeforeLeaving(text: string): void {
  unsaved = text;
}

addEventListener("hashchange", () => {
  const next = read();
  const leaves = next.page !== route.value.page || next.id !== route.value.id;
  if (leaves && unsaved && !confirm(unsaved)) {
    history.pushState(null, "", address);
    return;
  }
  if (leaves) unsaved = "";
  address = location.hash;
  route.value = next;
});
addEventListener("beforeunload", (event) => {
  if (unsaved) event.preventDefault(); // the browser asks in its own words
});

export function go(path: string): void {
  location.hash = path;
}

/** Shows a hotspot beside the map, or none. It stands in the address, to go back to, to load again and to pass on. */
export function showOnMap(id: string): void {
  if (id !== route.value.id) go(id ? `/map/${encodeURIComponent(id)}` : "/");
}

/** Writes into the map's address what the map came to show, and what is planned. Nobody is told, and there is nothing to go back to: it is no other page. An address that asks for something else, and was not followed yet, stays. */
export function keepSight(sight: Sight): void {
  if (location.hash !== address) return;
  const { page, id } = read();
  const planned = plan.value.pins.length > 0 ? `&plan=${writePlan(plan.value)}` : "";
  if (page !== "") return;
  history.replaceState(null, "", `#/map${id && `/${encodeURIComponent(id)}`}?at=${writeSight(sight)}${planned}`);
  address = location.hash;
}
