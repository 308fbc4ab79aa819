import type { TargetedEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import { parsePlace } from "../geo";
import { hasNames } from "../map/basemap";
import { places } from "../map/places";
import { mapView } from "./maphost";
import { useCalm } from "./use";
import { t } from "../messages";
import type { Place } from "../types";

export interface Candidate extends Place {
  id: string;
  name: string;
}

export interface Found extends Place {
  id?: string;
  zoom?: number;
}

interface Props {
  candidates: Candidate[]; // that have the text in their name; places and coordinates are found here
  onText: (text: string) => void; // hears what is looked for
  busy?: boolean; // whether candidates may still come
  onPick: (found: Found) => void;
  onId?: (id: string) => void; // for ids of hotspots, where they can be asked for
  hint: string;
  nothing: string; // what is said when nothing is found
}

const most = 8;

/** Finds a place or a street, coordinates, a hotspot's id, or a hotspot by its name. */
export function Search({ candidates, onText, busy: waiting = false, onPick, onId, hint, nothing }: Props) {
  const [text, setShown] = useState("");
  const [hurry, setHurry] = useState(false); // whether the first that is found is wanted
  const setText = (next: string): void => {
    setShown(next);
    setHurry(false);
    onText(searchable(next));
  };
  const around = usePlaces(searchable(text));
  const busy = waiting || around.busy;
  const results = find(text, candidates, around.places);
  const pick = (found: Found): void => {
    setText("");
    onPick(found);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const id = text.trim();
    if (onId && id.startsWith("hs_")) {
      setText("");
      onId(id);
    } else if (results[0]) {
      pick(results[0]);
    } else {
      setHurry(busy);
    }
  };
  useEffect(() => {
    if (!hurry || busy) return;
    if (results[0]) pick(results[0]);
    else setHurry(false);
  }, [hurry, busy, results]);
  const inVain = text.trim().length > 1 && results.length === 0 && !busy && !(onId && text.trim().startsWith("hs_"));
  return (
    <form class="search" role="search" onSubmit={submit} onKeyDown={walk}>
      <input
        type="search"
        name="search"
        aria-label={t.search.label}
        placeholder={hint}
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {results.length > 0 && (
        <ul class="results">
          {results.map((result) => (
            <li key={result.key}>
              <button type="button" onClick={() => pick(result)}>
                <span>{result.name}</span>
                <span class="small">{result.kind}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="small" role="status">
        {inVain ? nothing : ""}
      </p>
    </form>
  );
}

/** Arrow keys go from the field to what is found, and back. */
function walk(event: TargetedEvent<HTMLFormElement, KeyboardEvent>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, .results button")];
  const to = stops[stops.indexOf(document.activeElement as HTMLElement) + step];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

interface Result extends Found {
  key: string;
  name: string;
  kind: string;
}

const least = 2; // characters, or everything would be found

/** What names are searched for: empty where that makes no sense. */
function searchable(text: string): string {
  const wanted = text.trim();
  return wanted.length < least || wanted.startsWith("hs_") || parsePlace(wanted) ? "" : wanted;
}

function find(text: string, candidates: Candidate[], around: Named[]): Result[] {
  const wanted = text.trim();
  if (wanted.length < least) return [];
  const place = parsePlace(wanted);
  if (place) return [{ ...place, key: "place", name: `${place.lat}, ${place.lng}`, kind: t.search.coordinates }];
  const named = around.map((found) => ({ ...found, kind: [t.search.kinds[found.kind], found.near].filter(Boolean).join(", "), key: `${found.name} ${found.lat} ${found.lng}` }));
  const hotspots = candidates.map((candidate) => ({ ...candidate, key: candidate.id, kind: t.search.hotspot }));
  // Of a crowd of streets, some make room for hotspots.
  const room = Math.max(most - hotspots.length, most / 2);
  return [...named.slice(0, room), ...hotspots].slice(0, most);
}

/** What has a name on the map. */
interface Named extends Place {
  name: string;
  kind: keyof typeof t.search.kinds;
  near?: string; // a place
  zoom: number;
}

const settle = 200; // milliseconds without a key pressed before the server is asked

/** Places and streets by name: those of the file below the map, or else the few that the outlines have. */
function usePlaces(wanted: string): { places: Named[]; busy: boolean } {
  const calm = useCalm(wanted, settle);
  const [found, setFound] = useState<{ text: string; places: Named[] }>({ text: "", places: [] });
  const served = hasNames();
  useEffect(() => {
    if (!served || !calm) return;
    const stop = new AbortController();
    const { lat, lng } = mapView.value?.center() ?? { lat: 0, lng: 0 };
    const query = new URLSearchParams({ q: calm, lat: lat.toFixed(4), lng: lng.toFixed(4) });
    ask<Named[]>(`/basemap/names?${query}`, { signal: stop.signal }).then(
      ({ data }) => setFound({ text: calm, places: data }),
      () => setFound({ text: calm, places: [] }), // hotspots can still be found
    );
    return () => stop.abort();
  }, [served, calm]);
  if (!served) return { places: wanted ? boroughs(wanted.toLowerCase()) : [], busy: false };
  const known = found.text === wanted;
  return { places: known && wanted ? found.places : [], busy: !known && wanted !== "" };
}

const boroughs = (wanted: string): Named[] =>
  places().filter(({ name }) => name.toLowerCase().includes(wanted)).map((borough) => ({ ...borough, kind: "borough" }));
