// Whether a person sees the page. Browsers open addresses ahead of a click, and in tabs behind
// others: what happens once must wait.

interface Shown extends Pick<Document, "visibilityState" | "addEventListener" | "removeEventListener"> {
  prerendering?: boolean; // not in all browsers
}

const events = ["visibilitychange", "prerenderingchange"] as const;

/** Calls back once the page is seen, at once if it is. Returns a function that gives up waiting. */
export function whenSeen(then: () => void, page: Shown = document): () => void {
  const forget = (): void => events.forEach((name) => page.removeEventListener(name, look));
  const look = (): void => {
    if (page.prerendering || page.visibilityState !== "visible") return;
    forget();
    then();
  };
  events.forEach((name) => page.addEventListener(name, look));
  look();
  return forget;
}
