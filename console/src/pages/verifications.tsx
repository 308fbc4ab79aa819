// Staff confirm that a hotspot stands where its operator said.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { distance, parsePlace } from "../geo";
import { changes } from "../live";
import { t } from "../messages";
import { Choice, Field, SearchField } from "../parts/field";
import { useListing } from "../parts/listing";
import { HotspotLink, User } from "../parts/named";
import { ErrorNote, faultAt } from "../parts/note";
import { Pager } from "../parts/pager";
import { useAsk, useDoing } from "../parts/use";
import { position } from "../position";
import { useCell } from "../state";
import type { HotspotListed, Neighbours, Place } from "../types";

export function Verifications() {
  const [order, setOrder] = useState("oldest");
  const [rejected, setRejected] = useState("false");
  const [chosen, setChosen] = useState("");
  const waiting = useListing<HotspotListed>("/v1/hotspots", { verified: "false", rejected, order }, useCell(changes));
  const { answer, error, loading } = waiting;
  const done = (): void => {
    setChosen("");
    waiting.reload();
  };
  return (
    <section class="card wide">
      <div class="head">
        <h2>Pending verifications</h2>
        <a class="quiet" href="#/visits">
          On the map
        </a>
      </div>
      <div class="line">
        <SearchField label="Name" value={waiting.text} onSearch={waiting.search} />
        <Choice
          label="Show"
          name="rejected"
          value={rejected}
          onChange={(value) => {
            setRejected(value);
            waiting.turn(1);
          }}
        >
          <option value="false">Not visited yet</option>
          <option value="true">Rejected</option>
        </Choice>
        <Choice
          label="Order"
          name="order"
          value={order}
          onChange={(value) => {
            setOrder(value);
            waiting.turn(1);
          }}
        >
          <option value="oldest">Oldest first</option>
          <option value="newest">Newest first</option>
        </Choice>
      </div>
      <ErrorNote error={error} />
      {loading && !answer && <p class="waiting">{t.words.wait}</p>}
      <p role="status">{answer ? tell(answer.pagination?.total ?? 0, waiting.searched) : ""}</p>
      <ul class="list">
        {(answer?.data ?? []).map((hotspot) => (
          <li key={hotspot.id}>
            <button
              type="button"
              class="row"
              aria-expanded={chosen === hotspot.id}
              onClick={() => setChosen(chosen === hotspot.id ? "" : hotspot.id)}
            >
              <span class="row-main">
                <span class="name">{hotspot.name}</span>
                <span class="small">
                  {hotspot.type} · {format.degrees(hotspot.location.lat)}, {format.degrees(hotspot.location.lng)} · since{" "}
                  {format.time(hotspot.created_at)}
                </span>
                {hotspot.location.address && <span class="small">{hotspot.location.address}</span>}
              </span>
            </button>
            {chosen === hotspot.id && (
              <>
                <a class="quiet" href={`#/visits/${hotspot.id}`}>
                  Directions or rejection
                </a>
                <VerifyForm hotspot={hotspot} onDone={done} />
              </>
            )}
          </li>
        ))}
      </ul>
      <Pager pagination={answer?.pagination} onPage={waiting.turn} />
    </section>
  );
}

function tell(total: number, searched: string): string {
  const named = searched ? ` with “${searched}” in the name` : "";
  return total === 0 ? `No hotspots${named} to verify.` : `${format.count(total)}${named} to verify.`;
}

/** What stands around a hotspot, and whose it is. */
function Around({ id }: { id: string }) {
  const { answer, error } = useAsk<Neighbours>(`/v1/hotspots/${id}/neighbours`);
  if (!answer) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const { total, neighbours } = answer.data;
  return (
    <>
      <p class="small">{total === 0 ? "No other hotspot within 200 m." : `${format.count(total)} ${total === 1 ? "other" : "others"} within 200 m:`}</p>
      <ul class="list" aria-label="Neighbors">
        {neighbours.map((n) => (
          <li key={n.id} class="small">
            {format.metres(n.distance_m)}: <HotspotLink id={n.id} name={n.name} />, {n.type}, {n.status}
            {n.verified ? "" : ", not verified"}
            {n.days_served === null ? "" : `, served on ${format.count(n.days_served)} ${n.days_served === 1 ? "day" : "days"}`};{" "}
            {n.same_operator ? <strong>the same operator</strong> : <User id={n.operator_id} />}
          </li>
        ))}
      </ul>
      {neighbours.length < total && <p class="small">These are the nearest {neighbours.length}.</p>}
    </>
  );
}

/** Takes what was measured at a hotspot. */
export function VerifyForm({ hotspot, onDone }: { hotspot: Pick<HotspotListed, "id" | "type"> & { location: Place }; onDone: () => void }) {
  const [lat, setLat] = useState("");
  const [lng, setLng] = useState("");
  const [accuracy, setAccuracy] = useState("");
  const [method, setMethod] = useState("gps");
  const [type, setType] = useState<string>(hotspot.type);
  const [down, setDown] = useState("");
  const [up, setUp] = useState("");
  const [latency, setLatency] = useState("");
  const { busy, error, run } = useDoing();
  const measure = (): void =>
    run(async () => {
      const at = await position();
      setLat(at.lat.toFixed(6));
      setLng(at.lng.toFixed(6));
      setAccuracy(String(Math.ceil(at.accuracy_m)));
    });
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const tested = [down, up, latency].some((value) => value.trim() !== "");
      const speedtest = tested ? { down_mbps: number(down), up_mbps: number(up), latency_ms: number(latency) } : undefined;
      const body = { lat: number(lat), lng: number(lng), accuracy_m: number(accuracy), method, type: type === hotspot.type ? undefined : type, speedtest };
      await ask(`/v1/hotspots/${hotspot.id}/verification`, { method: "POST", body });
      onDone();
    });
  };
  const measured = parsePlace(`${lat}, ${lng}`);
  const text = (set: (value: string) => void) => (event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value);
  return (
    <form class="inset" onSubmit={submit} noValidate>
      <Around id={hotspot.id} />
      <p class="hint">Enter the location that you measured at the hotspot. It must be within 100 m, plus the accuracy, of the registered location.</p>
      <div class="line">
        <Field label="Latitude" name="lat" inputMode="decimal" value={lat} onInput={text(setLat)} fault={faultAt(error, "lat")} />
        <Field label="Longitude" name="lng" inputMode="decimal" value={lng} onInput={text(setLng)} fault={faultAt(error, "lng")} />
        <Field
          label="Accuracy, m"
          name="accuracy"
          inputMode="decimal"
          value={accuracy}
          onInput={text(setAccuracy)}
          fault={faultAt(error, "accuracy_m")}
        />
        <Field label="Method" name="method" value={method} onInput={text(setMethod)} fault={faultAt(error, "method")} />
        <Choice label="Type" name="type" value={type} onChange={setType} fault={faultAt(error, "type")}>
          <option value="home">home</option>
          <option value="business">business</option>
          <option value="public">public</option>
        </Choice>
      </div>
      <p class="hint">If you tested the speed there with your own device, no higher tier is paid from tomorrow on than you measured.</p>
      <div class="line">
        <Field
          label="Download, Mbps"
          name="down"
          inputMode="decimal"
          value={down}
          onInput={text(setDown)}
          fault={faultAt(error, "speedtest.down_mbps")}
        />
        <Field label="Upload, Mbps" name="up" inputMode="decimal" value={up} onInput={text(setUp)} fault={faultAt(error, "speedtest.up_mbps")} />
        <Field
          label="Latency, ms"
          name="latency"
          inputMode="decimal"
          value={latency}
          onInput={text(setLatency)}
          fault={faultAt(error, "speedtest.latency_ms")}
        />
      </div>
      <p class="small" role="status">
        {measured && `This is ${format.metres(distance(measured, hotspot.location))} from the registered location.`}
      </p>
      <ErrorNote error={error} at={["lat", "lng", "accuracy_m", "method", "type", "speedtest.down_mbps", "speedtest.up_mbps", "speedtest.latency_ms"]} />
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          Verify
        </button>
        {"geolocation" in navigator && (
          <button type="button" class="quiet" disabled={busy} onClick={measure}>
            Measure here
          </button>
        )}
      </div>
    </form>
  );
}

/** What was typed; that it is missing, or no number, is left for the server to complain about. */
function number(text: string): number | string | undefined {
  if (text.trim() === "") return undefined;
  return Number.isNaN(Number(text)) ? text : Number(text);
}
