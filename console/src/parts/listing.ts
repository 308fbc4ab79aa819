import { useEffect, useState } from "preact/hooks";
import { pageLeft, pageOf } from "../listing";
import { useAsk, useCalm, type Asked } from "./use";

const settle = 250; // milliseconds without a key pressed before the server is asked

export interface Listing<T> extends Asked<T[]> {
  text: string; // as it was typed
  searched: string; // that the answer is about, or will be
  search: (text: string) => void;
  turn: (page: number) => void;
}

/** A list of the server's that is looked at in pages, and searched. */
export function useListing<T>(list: string, filter: Record<string, string>, version: unknown, name = "q"): Listing<T> {
  const [text, search] = useState("");
  const of = JSON.stringify([text, filter]);
  const [turned, setTurned] = useState({ of, to: 1 });
  const turn = (to: number): void => setTurned({ of, to });
  const page = turned.of === of ? turned.to : 1; // another list begins at its first page
  if (turned.of !== of) turn(1);
  const searched = useCalm(text, settle);
  const asked = useAsk<T[]>(pageOf(list, { page, text: searched, filter, name }), version);
  const left = pageLeft(page, asked.answer?.pagination?.total_pages ?? page);
  useEffect(() => {
    if (left !== null) turn(left);
  }, [left]);
  return { ...asked, text, searched: searched.trim(), search, turn };
}
