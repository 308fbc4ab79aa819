// As much of a browser as the modules under test look at. They look when they are
// loaded, so this is imported first.
const listeners = new Map<string, (() => void)[]>();

export const page = {
  hash: "",
  hidden: false,
  stored: new Map<string, string>(), // for the tab
  lasting: new Map<string, string>(), // for all tabs
  storageFails: false,
  /** Tells those who listen that something happened. */
  tell(what: string): void {
    for (const listener of listeners.get(what) ?? []) listener();
  },
};

const listen = (what: string, listener: () => void): void => {
  listeners.set(what, [...(listeners.get(what) ?? []), listener]);
};

function store<T>(work: () => T): T {
  if (page.storageFails) throw new Error("this browser keeps nothing");
  return work();
}

const storage = (kept: Map<string, string>) => ({
  getItem: (name: string) => store(() => kept.get(name) ?? null),
  setItem: (name: string, value: string) => store(() => kept.set(name, value)),
  removeItem: (name: string) => store(() => kept.delete(name)),
});

Object.assign(globalThis, {
  addEventListener: listen,
  location: {
    get hash() {
      return page.hash;
    },
    set hash(next: string) {
      page.hash = next.startsWith("#") ? next : `#${next}`;
      page.tell("hashchange");
    },
  },
  history: {
    replaceState: (_state: unknown, _title: string, hash: string) => (page.hash = hash),
  },
  document: {
    addEventListener: listen,
    get hidden() {
      return page.hidden;
    },
    querySelector: () => null,
  },
  sessionStorage: storage(page.stored),
  localStorage: storage(page.lasting),
});
