import { useState } from "preact/hooks";
import { parsePlace } from "../geo";
import { places } from "../map/places";
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
  candidates: Candidate[]; // that can be found by name
  onPick: (found: Found) => void;
  onId?: (id: string) => void; // for ids of hotspots, where they can be asked for
  hint: string;
}

const most = 8;

/** Finds a borough, coordinates, a hotspot's id or one of the names that are known. */
export function Search({ candidates, onPick, onId, hint }: Props) {
  const [text, setText] = useState("");
  const results = find(text, candidates);
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
    }
  };
  const nothing = text.trim().length > 1 && results.length === 0 && !(onId && text.trim().startsWith("hs_"));
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        type="search"
        name="search"
        aria-label="Search"
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
        {nothing ? "Nothing is known by this name." : ""}
      </p>
    </form>
  );
}

interface Result extends Found {
  key: string;
  name: string;
  kind: string;
}

function find(text: string, candidates: Candidate[]): Result[] {
  const wanted = text.trim().toLowerCase();
  if (wanted.length < 2) return [];
  const place = parsePlace(wanted);
  if (place) return [{ ...place, key: "place", name: `${place.lat}, ${place.lng}`, kind: "coordinates" }];
  const boroughs = places
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map((borough) => ({ ...borough, key: borough.name, kind: "borough" }));
  const hotspots = candidates
    .filter(({ name, id }) => name.toLowerCase().includes(wanted) || id === wanted)
    .map((candidate) => ({ ...candidate, key: candidate.id, kind: "hotspot" }));
  return [...boroughs, ...hotspots].slice(0, most);
}
