// Where people come back to whom a provider of OpenID Connect has signed in: what it says stands
// in the address, from which it is taken before the page is drawn.
import { go } from "./router";

let said = "";

const kept = "oidc-back"; // which page someone left, until they are back

/** Leaves for the provider, from a page to come back to. */
export function leaveFor(address: string, page: string): void {
  sessionStorage.setItem(kept, page);
  location.assign(address);
}

/** The page that someone left for the provider, once; empty if they went there to sign in. */
export function leftPage(): string {
  const page = sessionStorage.getItem(kept) ?? "";
  sessionStorage.removeItem(kept);
  return page.replace(/^#/, "");
}

/** Takes what the provider said out of the address, and shows the page that goes on with it. */
export function takeReturn(): void {
  if (location.pathname !== "/oidc") return;
  said = location.search.slice(1);
  history.replaceState(null, "", "/");
  go("/oidc");
}

/** What the provider said, once. */
export function takeSaid(): string {
  const once = said;
  said = "";
  return once;
}
