// The map without a key: the preview's fixed records.
import { useEffect, useState } from "preact/hooks";
import { askPreview } from "../api";
import { metres } from "../format";
import { distance } from "../geo";
import { t } from "../messages";
import { Facts } from "../parts/facts";
import { mapView, useMapClick } from "../parts/maphost";
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
  useMapClick((hit) => {
    setChosen(records.find(({ id }) => String(id) === hit.id) ?? null);
    setPlace(hit.id ? null : hit);
  }, [records]);
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
    <Panel title={t.preview.title}>
      <h1>{t.preview.title}</h1>
      {notice && <p class="note">{notice}</p>}
      <Search
        hint={t.search.preview}
        nothing={t.search.previewNothing}
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
      <p class="hint">{t.preview.intro(records.length, (text) => <a href="/#/sign-in">{text}</a>)}</p>
      <ErrorNote error={error} />
      {chosen && <PreviewCard record={chosen} />}
      {!chosen && place && (
        <section aria-live="polite">
          <h2>{t.preview.nearest}</h2>
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
      <ul class="legend" aria-label={t.map.colours}>
        <li class="online">{t.preview.low}</li>
        <li class="pending">{t.preview.medium}</li>
        <li class="offline">{t.preview.high}</li>
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
      <Facts
        of={[
          [t.preview.speed, `${record.mbps} Mbit/s`],
          [t.words.signal, record.signal],
          [t.words.network, `${record.network}, ${record.security}`],
          [t.preview.risk, record.risk],
          [t.preview.uptime, record.uptime],
          [t.preview.rating, record.rating],
          [t.preview.owner, record.owner],
        ]}
      />
    </section>
  );
}
