// State that more than one part of the console looks at. A cell holds a value
// and tells those who watch when it becomes another one.
import { useEffect, useState } from "preact/hooks";

export class Cell<T> {
  #value: T;
  #watchers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set value(next: T) {
    if (Object.is(next, this.#value)) return;
    this.#value = next;
    for (const watcher of [...this.#watchers]) watcher(next);
  }

  /** Calls back on each change, until the function that it returns is called. */
  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }
}

/** Reads a cell in a component, which is drawn again when the value changes. */
export function useCell<T>(cell: Cell<T>): T {
  const [value, setValue] = useState(cell.value);
  useEffect(() => {
    setValue(() => cell.value); // it may have changed between drawing and now
    return cell.watch((next) => setValue(() => next));
  }, [cell]);
  return value;
}
