// Staff confirm that a hotspot stands where its operator said.
import { useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { now } from "../clock";
import { ago, next } from "../desk";
import * as format from "../format";
import { distance, parsePlace } from "../geo";
import { changes } from "../live";
import { t } from "../messages";
import { Check, Choice, Field, SearchField } from "../parts/field";
import { useListing } from "../parts/listing";
import { HotspotLink, User } from "../parts/named";
import { ErrorNote, faultAt } from "../parts/note";
import { Pager } from "../parts/pager";
import { useNext } from "../parts/next";
import { useAsk, useDoing } from "../parts/use";
import { position } from "../position";
import { session } from "../session";
import { useCell } from "../state";
import type { HotspotListed, Neighbours, Place } from "../types";

const visited: [string, string][] = [
  ["false", t.verify.notVisited],
  ["true", t.verify.rejected],
];
const orders: [string, string][] = [
  ["oldest", t.words.oldest],
  ["newest", t.words.newest],
];

export function Verifications() {
  const [order, setOrder] = useState("oldest");
  const [rejected, setRejected] = useState("false");
  const [chosen, setChosen] = useState("");
  const waiting = useListing<HotspotListed>("/v1/hotspots", { verified: "false", rejected, order }, useCell(changes));
  const { answer, error, loading } = waiting;
  const [told, setTold] = useState("");
  const focus = useNext(answer);
  const done = (): void => {
    const queue = answer?.data ?? [];
    const name = (id: string): string => queue.find((hotspot) => hotspot.id === id)?.name ?? "";
    const to = next(queue, chosen);
    setTold(to ? t.verify.next(name(chosen), name(to)) : t.verify.last(name(chosen)));
    setChosen(to);
    focus(() => document.querySelector<HTMLElement>('.row[aria-expanded="true"]'));
    waiting.reload();
  };
  return (
    <section class="card wide">
      <div class="head">
        <h2>{t.verify.title}</h2>
        <a class="quiet" href="#/visits">
          {t.verify.onMap}
        </a>
      </div>
      <div class="line">
        <SearchField label={t.words.name} value={waiting.text} onSearch={waiting.search} />
        <Choice label={t.words.show} name="rejected" value={rejected} options={visited} onChange={setRejected} />
        <Choice label={t.words.order} name="order" value={order} options={orders} onChange={setOrder} />
      </div>
      <ErrorNote error={error} />
      {loading && !answer && <p class="waiting">{t.words.wait}</p>}
      <p role="status">{told && `${told} `}{answer ? tell(answer.pagination?.total ?? 0, waiting.searched) : ""}</p>
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
                <span class="small" title={format.time(hotspot.created_at)}>
                  {t.verify.row(t.type[hotspot.type], format.degrees(hotspot.location.lat), format.degrees(hotspot.location.lng), ago(Date.parse(hotspot.created_at), now()))}
                </span>
                {hotspot.location.address && <span class="small">{hotspot.location.address}</span>}
              </span>
            </button>
            {chosen === hotspot.id && (
              <>
                <a class="quiet" href={`#/visits/${hotspot.id}`}>
                  {t.verify.directions}
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
  if (total === 0) return searched ? t.verify.noneNamed(searched) : t.verify.none;
  return searched ? t.verify.waitingNamed(format.count(total), searched) : t.verify.waiting(format.count(total));
}

/** What stands around a hotspot, and whose it is. */
function Around({ id }: { id: string }) {
  const { answer, error } = useAsk<Neighbours>(`/v1/hotspots/${id}/neighbours`);
  if (!answer) return error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>;
  const { total, neighbours } = answer.data;
  return (
    <>
      <p class="small">{total === 0 ? t.verify.alone : t.verify.others(total, format.count(total))}</p>
      <ul class="list" aria-label={t.verify.neighbours}>
        {neighbours.map((n) => (
          <li key={n.id} class="small">
            {format.metres(n.distance_m)}: <HotspotLink id={n.id} name={n.name} />, {t.type[n.type]}, {t.status[n.status]}
            {n.verified ? "" : `, ${t.words.notVerified}`}
            {n.days_served === null ? "" : `, ${t.verify.servedOn(n.days_served, format.count(n.days_served))}`}
            {n.standing_minutes === undefined ? "" : `, ${t.verify.servedFor(format.count(Math.floor(n.standing_minutes / 60)))}`};{" "}
            {n.same_operator ? <strong>{t.verify.sameOperator}</strong> : <User id={n.operator_id} />}
          </li>
        ))}
      </ul>
      {neighbours.length < total && <p class="small">{t.verify.nearest(neighbours.length)}</p>}
    </>
  );
}

interface VerifyProps {
  hotspot: Pick<HotspotListed, "id" | "type"> & { location: Place };
  onDone: () => void;
  onTold?: () => void; // when its operator was told where it was found
}

/** Takes what was measured at a hotspot. */
export function VerifyForm({ hotspot, onDone, onTold = onDone }: VerifyProps) {
  const [typed, setTyped] = useState({ lat: "", lng: "", accuracy: "", method: "gps", down: "", up: "", latency: "" });
  const [type, setType] = useState<string>(hotspot.type);
  const [moved, setMoved] = useState(false);
  const { busy, error, run, submit } = useDoing();
  const measure = (): void =>
    run(async () => {
      const at = await position();
      setTyped((before) => ({ ...before, lat: at.lat.toFixed(6), lng: at.lng.toFixed(6), accuracy: String(Math.ceil(at.accuracy_m)) }));
    });
  const send = submit(async () => {
    const { lat, lng, accuracy, method, down, up, latency } = typed;
    const tested = [down, up, latency].some((value) => value.trim() !== "");
    const speedtest = tested ? { down_mbps: number(down), up_mbps: number(up), latency_ms: number(latency) } : undefined;
    const body = { lat: number(lat), lng: number(lng), accuracy_m: number(accuracy), method, type: type === hotspot.type ? undefined : type, speedtest, moved };
    await ask(`/v1/hotspots/${hotspot.id}/verification`, { method: "POST", body });
    onDone();
  });
  const measured = parsePlace(`${typed.lat}, ${typed.lng}`);
  const field = (name: keyof typeof typed, label: string, at: string) => (
    <Field
      label={label}
      name={name}
      inputMode={name === "method" ? undefined : "decimal"}
      value={typed[name]}
      onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
      fault={faultAt(error, at)}
    />
  );
  return (
    <form class="inset" onSubmit={send} noValidate>
      <Around id={hotspot.id} />
      <p class="hint">{t.verify.hint}</p>
      <div class="line">
        {field("lat", t.words.latitude, "lat")}
        {field("lng", t.words.longitude, "lng")}
        {field("accuracy", t.verify.accuracy, "accuracy_m")}
        {field("method", t.verify.method, "method")}
        <Choice label={t.words.type} name="type" value={type} options={Object.entries(t.type)} onChange={setType} fault={faultAt(error, "type")} />
      </div>
      <p class="hint">{t.verify.speedHint}</p>
      <div class="line">
        {field("down", t.verify.download, "speedtest.down_mbps")}
        {field("up", t.verify.upload, "speedtest.up_mbps")}
        {field("latency", t.verify.latency, "speedtest.latency_ms")}
      </div>
      {(moved || faultAt(error, "moved") !== "") && <Check label={t.verify.moved} name="moved" checked={moved} onChange={setMoved} />}
      <p class="small" role="status">
        {measured && t.verify.away(format.metres(distance(measured, hotspot.location)))}
      </p>
      <ErrorNote error={error} at={["lat", "lng", "accuracy_m", "method", "type", "speedtest.down_mbps", "speedtest.up_mbps", "speedtest.latency_ms", "moved"]} />
      {measured && isElsewhere(error) && distance(measured, hotspot.location) > within && <Elsewhere hotspot={hotspot} at={measured} onTold={onTold} />}
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          {t.verify.verify}
        </button>
        {"geolocation" in navigator && (
          <button type="button" class="quiet" disabled={busy} onClick={measure}>
            {t.verify.measure}
          </button>
        )}
      </div>
    </form>
  );
}

const within = 100; // metres; a hotspot that is found nearer may be where it is registered

/** Whether a visit was refused because of where it found the hotspot. */
const isElsewhere = (error: unknown): boolean => error instanceof ApiError && error.code === "conflict" && faultAt(error, "moved") === "";

/** What can be done about a hotspot that was found elsewhere: admins move it; others ask its operator to. */
function Elsewhere({ hotspot, at, onTold }: { hotspot: { id: string; operator_id?: string | null; location: Place }; at: Place; onTold: () => void }) {
  const [told, setTold] = useState(false);
  const { busy, error, run } = useDoing();
  const metres = format.metres(distance(at, hotspot.location));
  const place = `${format.degrees(at.lat)}, ${format.degrees(at.lng)}`;
  const reason = new URLSearchParams({ reason: t.elsewhere.reason(metres, place) });
  const tell = (): void =>
    run(async () => {
      await ask(`/v1/hotspots/${hotspot.id}/verification?${reason}`, { method: "DELETE" });
      setTold(true);
      onTold();
    });
  return (
    <div class="note">
      <p>{t.elsewhere.hint(metres)}</p>
      <div class="line">
        {session.mayFor("hotspots", hotspot.operator_id) && (
          <a class="quiet" href={`#/move/${hotspot.id}?to=${place.replace(" ", "")}`}>
            {t.elsewhere.move}
          </a>
        )}
        <button type="button" class="quiet" disabled={busy || told} onClick={tell}>
          {t.elsewhere.ask}
        </button>
      </div>
      <p role="status">{told ? t.elsewhere.asked : ""}</p>
      <ErrorNote error={error} />
    </div>
  );
}

/** What was typed; that it is missing, or no number, is left for the server to complain about. */
function number(text: string): number | string | undefined {
  if (text.trim() === "") return undefined;
  return Number.isNaN(Number(text)) ? text : Number(text);
}
