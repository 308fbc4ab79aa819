import { useEffect, useRef } from "preact/hooks";

/** After a decision, moves the focus to what comes next once the list is there again: the button that was pressed is gone. */
export function useNext(answer: unknown): (find: () => HTMLElement | null | undefined) => void {
  const wanted = useRef<() => HTMLElement | null | undefined>(undefined);
  useEffect(() => {
    const element = wanted.current?.();
    wanted.current = undefined;
    element?.focus();
    element?.scrollIntoView({ block: "nearest" });
  }, [answer]);
  return (find) => (wanted.current = find);
}

/** The card of a list at a place, or the last if there are fewer. */
export const cardAt = (place: number): HTMLElement | undefined => {
  const all = document.querySelector(".cards")?.querySelectorAll<HTMLElement>("article");
  return all?.[Math.min(place, all.length - 1)];
};
