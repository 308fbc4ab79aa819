import { useCallback, useEffect, useState } from "preact/hooks";
import { ask, isAbort, type Answer } from "../api";

export interface Asked<T> {
  answer: Answer<T> | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
}

/** Asks when it is first drawn, and whenever the path or the version becomes another one; null asks nothing. */
export function useAsk<T>(path: string | null, version: unknown = 0): Asked<T> {
  const [state, setState] = useState<Omit<Asked<T>, "reload">>({ answer: undefined, error: undefined, loading: path !== null });
  const [again, setAgain] = useState(0);
  useEffect(() => {
    if (path === null) {
      setState({ answer: undefined, error: undefined, loading: false });
      return;
    }
    const stop = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    ask<T>(path, { signal: stop.signal }).then(
      (answer) => setState({ answer, error: undefined, loading: false }),
      (error: unknown) => {
        if (!isAbort(error)) setState({ answer: undefined, error, loading: false });
      },
    );
    return () => stop.abort();
  }, [path, version, again]);
  return { ...state, reload: useCallback(() => setAgain((n) => n + 1), []) };
}

export interface Doing {
  busy: boolean;
  error: unknown;
  run: (work: () => Promise<void>) => void;
}

/** Runs what a button or a form does: one at a time, with its error kept. */
export function useDoing(): Doing {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (work: () => Promise<void>): void => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    work()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { busy, error, run };
}

/** A value that follows another one once that has not changed for a while. */
export function useCalm<T>(value: T, delay: number): T {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(() => value), delay);
    return () => clearTimeout(timer);
  }, [value, delay]);
  return calm;
}
