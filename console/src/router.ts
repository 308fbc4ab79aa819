// Which page is shown: what stands behind the # of the address.
import { Cell } from "./state";

export interface Route {
  page: string; // the first word; empty for the map
  id: string; // the second: the hotspot that is shown
  part: string; // the third: what of it is looked for
}

function read(): Route {
  const [page = "", id = "", part = ""] = location.hash.replace(/^#\/?/, "").split("/").map(decodeWord);
  return { page: page === "map" ? "" : page, id, part };
}

function decodeWord(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word; // whoever typed a lone % gets a page that does not exist
  }
}

export const route = new Cell<Route>(read());

addEventListener("hashchange", () => (route.value = read()));

export function go(path: string): void {
  location.hash = path;
}
