// What is kept in the browser. One that keeps nothing, because its user does not want it, is no error.

type Store = "localStorage" | "sessionStorage";

export function kept(name: string, store: Store = "localStorage"): string | null {
  try {
    return globalThis[store].getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text, or forgets it for null. Says whether that was possible. */
export function keep(name: string, value: string | null, store: Store = "localStorage"): boolean {
  try {
    if (value === null) globalThis[store].removeItem(name);
    else globalThis[store].setItem(name, value);
    return true;
  } catch {
    return false;
  }
}
