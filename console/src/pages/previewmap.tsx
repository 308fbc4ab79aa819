// The map without a key: the preview's fixed records.
import { useEffect, useState } from "preact/hooks";
import { askPreview } from "../api";
import { metres } from "../format";
import { distance } from "../geo";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { Panel } from "../parts/panel";
import { Search, type Candidate } from "../parts/search";
import { session } from "../session";
import { useCell } from "../state";
import type { Place, PreviewHotspot } from "../types";

const near = 5; // how many are listed around a click

async function load(): Promise<PreviewHotspot[]> {
  const { data } = await askPreview<{ data: PreviewHotspot[] }>("/api/v1/hotspots?limit=100");
  return data;
}

export function PreviewMap() {
  const view = useCell(mapView);
  const notice = useCell(session.notice);
  const [records, setRecords] = useState<PreviewHotspot[]>([]);
  const [error, setError] = useState<unknown>();
  const [place, setPlace] = useState<Place | null>(null);
  const [chosen, setChosen] = useState<PreviewHotspot | null>(null);
  const [wanted, setWanted] = useState("");

  useEffect(() => {
    load().then(setRecords, setError);
  }, []);
  useEffect(() => view?.show({ kind: "preview", records }), [view, records]);
  useEffect(() => {
    if (!view) return;
    view.onClick = (hit) => {
      setChosen(records.find(({ id }) => String(id) === hit.id) ?? null);
      setPlace(hit.id ? null : hit);
    };
    return () => (view.onClick = () => undefined);
  }, [view, records]);
  useEffect(() => {
    view?.mark(chosen ?? place);
    return () => view?.mark(null);
  }, [view, chosen, place]);

  const choose = (record: PreviewHotspot): void => {
    setChosen(record);
    view?.fly(record);
  };
  const nearest = place
    ? records
        .map((record) => ({ record, away: distance(place, record) }))
        .sort((a, b) => a.away - b.away)
        .slice(0, near)
    : [];
  return (
    <Panel title="Preview">
      <h1>Preview</h1>
      {notice && <p class="note">{notice}</p>}
      <Search
        hint="Name, place or coordinates"
        nothing="Nothing found. Try another name, a place or coordinates."
        candidates={wanted ? records.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase())).map(candidate) : []}
        onText={setWanted}
        onPick={(found) => {
          const record = records.find(({ id }) => String(id) === found.id);
          if (record) choose(record);
          else {
            setPlace(found.zoom ? null : found);
            view?.fly(found, found.zoom);
          }
        }}
      />
      <p class="hint">
        {records.length} fixed records of New York City. <a href="#/sign-in">Sign in</a> with a key to see the live network.
      </p>
      <ErrorNote error={error} />
      {chosen && <PreviewCard record={chosen} />}
      {!chosen && place && (
        <section aria-live="polite">
          <h2>Nearest hotspots</h2>
          <ul class="list">
            {nearest.map(({ record, away }) => (
              <li key={record.id}>
                <button type="button" class="row" onClick={() => choose(record)}>
                  <span>{record.name}</span>
                  <span class="small">{metres(away)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <ul class="legend" aria-label="Colours">
        <li class="online">Low risk</li>
        <li class="pending">Medium</li>
        <li class="offline">High</li>
      </ul>
    </Panel>
  );
}

function candidate({ id, name, lat, lng }: PreviewHotspot): Candidate {
  return { id: String(id), name, lat, lng };
}

function PreviewCard({ record }: { record: PreviewHotspot }) {
  return (
    <section aria-live="polite">
      <h2>{record.name}</h2>
      <p>{record.note}</p>
      <dl class="facts">
        <dt>Speed</dt>
        <dd>{record.mbps} Mbit/s</dd>
        <dt>Signal</dt>
        <dd>{record.signal}</dd>
        <dt>Network</dt>
        <dd>
          {record.network}, {record.security}
        </dd>
        <dt>Risk</dt>
        <dd>{record.risk}</dd>
        <dt>Uptime</dt>
        <dd>{record.uptime}</dd>
        <dt>Rating</dt>
        <dd>{record.rating}</dd>
        <dt>Owner</dt>
        <dd>{record.owner}</dd>
      </dl>
    </section>
  );
}
