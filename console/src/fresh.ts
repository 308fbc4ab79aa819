// Some things ask that a person has signed in within the last minutes. A dialog asks them to
// do so again; what they did then goes on.
import { Cell } from "./state";

/** What tells those who wait whether the person did; null while nothing is asked. */
export const asking = new Cell<((done: boolean) => void) | null>(null);

let waiting: Promise<boolean> | undefined;

/** Asks whoever is signed in to do so again. What asks meanwhile waits for the same. */
export function freshen(): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => (asking.value = resolve)).finally(() => {
    asking.value = null;
    waiting = undefined;
  });
  return waiting;
}
