import type { RefObject } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, ask, isAbort, type Answer } from "../api";
import { connection } from "../events";

export interface Asked<T> {
  answer: Answer<T> | undefined;
  error: unknown;
  loading: boolean;
  /** Asks again. */
  reload: () => void;
  /** Gives up what is being asked, and asks no more until reload. */
  halt: () => void;
}

interface Last<T> {
  path: string | null; // that the rest is about
  answer?: Answer<T>;
  error?: unknown;
}

/** Asks when it is first drawn, and whenever the path or the version becomes another one; null asks nothing. */
export function useAsk<T>(path: string | null, version: unknown = 0): Asked<T> {
  const [last, setLast] = useState<Last<T>>({ path: null });
  const [waiting, setWaiting] = useState(false);
  const [again, setAgain] = useState(0);
  const running = useRef<AbortController>(null);
  const halted = useRef(false);
  useEffect(() => {
    if (halted.current) return;
    if (path === null) {
      setLast({ path });
      setWaiting(false);
      return;
    }
    const stop = new AbortController();
    running.current = stop;
    const done = (next: Last<T>): void => {
      setLast(next);
      setWaiting(false);
    };
    setWaiting(true);
    ask<T>(path, { signal: stop.signal }).then(
      (answer) => done({ path, answer }),
      (error: unknown) => {
        if (isAbort(error)) return;
        setLast((before) => (before.path === path && before.answer && passes(error) ? { ...before, error } : { path, error }));
        setWaiting(false);
      },
    );
    return () => stop.abort();
  }, [path, version, again]);
  const askAgain = useCallback(() => setAgain((n) => n + 1), []);
  const reload = useCallback(() => {
    halted.current = false;
    askAgain();
  }, []);
  const halt = useCallback(() => {
    halted.current = true;
    running.current?.abort();
  }, []);
  useReturn(last.error, askAgain);
  // A path that was not asked for yet, because it is drawn for the first time, is waited for too.
  const loading = waiting || last.path !== path;
  return { answer: last.answer, error: last.error, loading, reload, halt };
}

/** Tries again when the server is back, after an error. */
export function useReturn(error: unknown, again: () => void): void {
  const failed = error !== undefined;
  useEffect(() => {
    if (!failed) return;
    return connection.watch((state) => {
      if (state === "live") again();
    });
  }, [failed, again]);
}

/** Whether an error says nothing about what was asked for: what is known of it stays in sight, and what is being typed beside it. */
function passes(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

export interface Doing {
  busy: boolean;
  error: unknown;
  run: (work: () => Promise<void>) => void;
  /** What a form does when it is sent, in place of the browser. */
  submit: (work: () => Promise<void>) => (event: Event) => void;
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
  const submit = (work: () => Promise<void>) => (event: Event): void => {
    event.preventDefault();
    run(work);
  };
  return { busy, error, run, submit };
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

/** A value that follows another one, but at most once in a while. */
export function useSeldom<T>(value: T, every: number): T {
  const [kept, setKept] = useState({ value, at: Date.now() });
  useEffect(() => {
    const timer = setTimeout(() => setKept({ value, at: Date.now() }), Math.max(0, kept.at + every - Date.now()));
    return () => clearTimeout(timer);
  }, [value, every]);
  return every === 0 ? value : kept.value;
}

/** Whether an element has come into sight; from then on it stays true. */
export function useInSight<E extends Element>(): [RefObject<E | null>, boolean] {
  const element = useRef<E>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, seen];
}
