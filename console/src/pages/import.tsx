// Registers many hotspots from a table.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import * as format from "../format";
import { FileError, mostBytes, needed, optional, readTable, recognize, type Row, type Table as Rows } from "../import/rows";
import { readAll, readRoom, register, results, tally, template } from "../import/run";
import { MapView } from "../map/view";
import { t } from "../messages";
import { Field } from "../parts/field";
import { Lacks } from "../parts/lacks";
import { ErrorNote } from "../parts/note";
import { saveCSV } from "../parts/save";
import { Table } from "../parts/table";
import { askBeforeLeaving } from "../router";
import { session } from "../session";

interface Chosen extends Rows {
  name: string;
  room: { quota: number; waiting: number } | null; // null: nothing limits it
}

export function ImportPage() {
  const [chosen, setChosen] = useState<Chosen>();
  const [fault, setFault] = useState("");
  const [error, setError] = useState<unknown>();
  const [reading, setReading] = useState(false);
  const [running, setRunning] = useState(false);
  const turn = useRef<AbortController>(new AbortController()); // of what reads the file that was chosen last
  useEffect(() => () => turn.current.abort(), []);
  if (!session.may("hotspots")) {
    return (
      <section class="page">
        <h1>{t.app.import}</h1>
        <Lacks of="hotspots" ask />
      </section>
    );
  }
  const choose = (file: File | undefined): void => {
    turn.current.abort();
    const { signal } = (turn.current = new AbortController());
    setChosen(undefined);
    setFault("");
    setError(undefined);
    setReading(file !== undefined);
    if (!file) return;
    open(file, signal)
      .then((opened) => signal.aborted || setChosen(opened))
      .catch((failed: unknown) => {
        if (signal.aborted) return;
        if (failed instanceof FileError) setFault(failed.message);
        else setError(failed);
      })
      .finally(() => signal.aborted || setReading(false));
  };
  return (
    <section class="page">
      <h1>{t.app.import}</h1>
      <section class="card">
        <p>{t.import.about((text) => <a href="/docs/quickstart-staff#import">{text}</a>)}</p>
        <p class="hint">
          {t.import.needed(<Names of={needed} />)} {t.import.optional(<Names of={optional} />)}
        </p>
        <button type="button" class="quiet" onClick={() => saveCSV("hotspots.csv", template())}>
          {t.import.template}
        </button>
        <Field
          label={t.import.file}
          type="file"
          name="file"
          accept=".csv,.tsv,.txt,text/csv"
          disabled={running}
          onClick={(event) => (event.currentTarget.value = "")} // the same file, once it is mended, is another one
          onChange={(event) => choose(event.currentTarget.files?.[0])}
          fault={fault}
        />
        <ErrorNote error={error} />
        {reading && <p class="waiting">{t.words.wait}</p>}
      </section>
      {chosen && <Import key={chosen} chosen={chosen} running={running} onRunning={setRunning} />}
    </section>
  );
}

function Names({ of }: { of: string[] }) {
  return <>{of.map((name, i) => [i > 0 && ", ", <code key={name}>{name}</code>])}</>;
}

/** Reads a file, and what there is already. */
async function open(file: File, signal: AbortSignal): Promise<Chosen> {
  if (file.size > mostBytes) throw new FileError(t.import.tooLong(format.count(mostBytes / 1e6)));
  const bytes = await file.arrayBuffer().catch(() => {
    throw new FileError(t.import.unreadable); // it was moved, or is being written
  });
  const table = readTable(new Uint8Array(bytes));
  if (table.rows.length === 0) throw new FileError(t.import.noRows);
  const mine = await readAll(signal);
  recognize(table.rows, mine);
  return { ...table, name: file.name, room: session.may("visits") ? null : await readRoom(mine, signal) };
}

/** A file that was chosen, and what became of its rows. */
function Import({ chosen: { name, rows, unused, room }, running, onRunning }: { chosen: Chosen; running: boolean; onRunning: (is: boolean) => void }) {
  const [changes, setChanges] = useState(0); // of the rows
  const [begun, setBegun] = useState(false);
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(null);
  const all = useMemo(() => tally(rows, "ready"), [rows]);
  const left = tally(rows, "ready");
  const failed = rows.filter(({ outcome }) => outcome === "refused" || (begun && outcome === "ready"));
  useEffect(
    () => () => {
      stop.current?.abort();
      askBeforeLeaving("");
    },
    [],
  );
  const start = (): void => {
    stop.current = new AbortController();
    setBegun(true);
    setError(undefined);
    onRunning(true);
    askBeforeLeaving(t.import.leave);
    register(rows, stop.current.signal, () => setChanges((n) => n + 1))
      .catch(setError)
      .finally(() => {
        onRunning(false);
        askBeforeLeaving("");
      });
  };
  const spare = room && Math.max(0, room.quota - room.waiting);
  return (
    <section class="card wide">
      <h2>{name}</h2>
      <p>{t.import.counts(...(["registered", "present", "refused", "ready"] as const).map((outcome) => format.count(tally(rows, outcome))) as [string, string, string, string])}</p>
      {unused.length > 0 && !begun && <p class="note">{t.import.unused(unused.join(", "))}</p>}
      {room && spare !== null && all > spare && !begun && (
        <p class="note" role="status">
          {t.import.room(all, format.count(all), format.count(room.quota), format.count(room.waiting), format.count(spare))}
        </p>
      )}
      {begun && (
        <p>
          <progress value={all - left} max={Math.max(all, 1)} aria-label={t.import.progress} /> {t.import.done(format.count(all - left), format.count(all))}
        </p>
      )}
      <p role="status">{begun && !running ? (left > 0 ? t.import.stopped : t.import.finished) : !begun && all === 0 ? t.import.nothing : ""}</p>
      <ErrorNote error={error} />
      <div class="line">
        {running && (
          <button type="button" class="quiet" onClick={() => stop.current?.abort()}>
            {t.import.stop}
          </button>
        )}
        {!running && left > 0 && (
          <button type="button" class="button" onClick={start}>
            {begun ? t.import.goOn(format.count(left)) : t.import.start(t.words.hotspotCount(left, format.count(left)))}
          </button>
        )}
        {!running && (begun || failed.length > 0) && (
          <>
            <button type="button" class="quiet" onClick={() => saveCSV(fileName(name, "results"), results(rows))}>
              {t.import.results(format.count(rows.length))}
            </button>
            {failed.length > 0 && (
              <button type="button" class="quiet" onClick={() => saveCSV(fileName(name, "left"), results(failed))}>
                {t.import.left(format.count(failed.length))}
              </button>
            )}
          </>
        )}
      </div>
      {rows.some(({ body }) => body) && <OnMap rows={rows} />}
      <RowTable rows={rows} changes={changes} />
    </section>
  );
}

/** A map of the network with the rows, for whoever opens it: latitude and longitude are easily taken for each other (D223). */
function OnMap({ rows }: { rows: Row[] }) {
  const [opened, setOpened] = useState(false);
  return (
    <details onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{t.import.onMap}</summary>
      {opened && <Places rows={rows} />}
    </details>
  );
}

function Places({ rows }: { rows: Row[] }) {
  const element = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    if (!element.current) return;
    const places = rows.flatMap(({ body }) => (body ? [body.location] : []));
    let close: (() => void) | undefined;
    let gone = false;
    MapView.create(element.current, {}).then(
      (view) => {
        if (gone) return view.close();
        close = view.close;
        view.show({ kind: "network" });
        view.frame(places);
        const stop = view.onRest(() => {
          stop();
          view.ring(places);
        });
      },
      () => setFailure(t.map.noWebGL),
    );
    return () => {
      gone = true;
      close?.();
    };
  }, [rows]);
  return (
    <>
      <p class="hint">{failure || t.import.mapHint}</p>
      <section class="map-inset" hidden={failure !== ""} aria-label={t.import.onMap}>
        <div class="map" ref={element} />
      </section>
    </>
  );
}

const fileName = (name: string, what: string): string => `${name.replace(/\.\w+$/, "")}-${what}.csv`;

const perScreen = 50;

/** The rows, those that were refused first. */
function RowTable({ rows, changes }: { rows: Row[]; changes: number }) {
  const [shown, setShown] = useState(perScreen);
  const ordered = useMemo(() => {
    const refused = ({ outcome }: Row): boolean => outcome === "refused";
    return [...rows.filter(refused), ...rows.filter((row) => !refused(row))].slice(0, shown);
  }, [rows, changes, shown]);
  return (
    <>
      <Table label={t.import.rows} columns={[[t.import.line, "number"], [t.words.name], [t.words.type, "spare"], [t.words.location, "spare"], [t.register.mac, "spare"], [t.import.result]]}>
        {ordered.map(({ line, cells, outcome, why, id }) => (
          <tr key={line}>
            <td class="number">{line}</td>
            <th scope="row">{id ? <a href={`#/hotspots/${id}`}>{cells.name}</a> : (cells.name ?? "–")}</th>
            <td class="spare">{cells.type}</td>
            <td class="spare whole">{[cells.lat, cells.lng].filter(Boolean).join(", ")}</td>
            <td class="spare">
              <code>{cells.mac_address}</code>
            </td>
            <td>
              {t.import.outcome[outcome]}
              {why && <span class="small block">{why}</span>}
            </td>
          </tr>
        ))}
      </Table>
      {rows.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + perScreen)}>
          {t.words.showMore}
        </button>
      )}
    </>
  );
}
