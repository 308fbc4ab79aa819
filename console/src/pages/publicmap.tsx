// The live map for everyone, where the network is public: what its open feeds show.
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../clock";
import * as format from "../format";
import { isNamed, network, networkStart, rewardsOn } from "../head";
import { t } from "../messages";
import { Facts, Tiles } from "../parts/facts";
import { nearestPath, placeOf, useFeed, type OpenHotspot, type OpenHotspots } from "../parts/feed";
import { mapView, useMapClick, useMarked } from "../parts/maphost";
import { Panel, Tabs } from "../parts/panel";
import { Search, type Candidate, type Found } from "../parts/search";
import { StatusBadge } from "../parts/status";
import { useCalm } from "../parts/use";
import { route, showOnMap } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Place } from "../types";
import { Directions, FindWifi, here, useMiddle } from "./findwifi";
import { NoStreets } from "./getstreets";
import { pin, Window } from "./window";

const tools = [
  { id: "find", name: t.find.title },
  { id: "window", name: t.window.tab },
];

const minute = 60_000; // feeds change as often
const settle = 250; // milliseconds without a key pressed before the server is asked
const mostNamed = 8;

/** Whether the network has no public hotspots; only where the page's head knows of none is it asked. */
function useEmpty(): boolean | undefined {
  const known = Object.keys(networkStart()).length > 0;
  const some = useFeed<OpenHotspots>(known ? null : "/open/collections/hotspots/items?limit=1");
  return known ? false : some ? some.features.length === 0 : undefined;
}

/** Public hotspots by words of their names and addresses, the nearest first. */
function useNamed(): { candidates: Candidate[]; busy: boolean; onText: (text: string) => void } {
  const [text, setText] = useState("");
  const wanted = useCalm(text, settle);
  const middle = useMiddle() ?? { lat: 0, lng: 0 };
  const found = useFeed<OpenHotspots>(wanted ? nearestPath(middle, mostNamed, wanted) : null);
  const known = text === wanted && found;
  return {
    candidates: known ? found.features.map((hotspot) => ({ ...placeOf(hotspot), id: hotspot.properties.id, name: hotspot.properties.name ?? hotspot.properties.id })) : [],
    busy: text !== wanted || (wanted !== "" && found === undefined),
    onText: setText,
  };
}

export function PublicMap() {
  const view = useCell(mapView);
  const notice = useCell(session.notice);
  const empty = useEmpty();
  const at = useCell(route);
  const chosen = at.page === "" ? at.id : "";

  const [tool, setTool] = useState("find");
  const planning = tool === "window" && !chosen;

  useMapClick(
    ({ id = "", lat, lng }) => {
      if (planning) pin.value = { lat, lng };
      else showOnMap(id);
    },
    [planning],
  );
  useEffect(() => {
    if (!view) return;
    view.show({ kind: "public" });
    const timer = setInterval(() => view.refresh(), minute);
    return () => clearInterval(timer);
  }, [view]);

  const last = useRef("");
  if (chosen) last.current = chosen;
  const choose = (id: string, at: Place): void => {
    showOnMap(id);
    view?.fly(at);
  };
  const find = (found: Found): void => {
    if (found.id) {
      choose(found.id, found);
      return;
    }
    showOnMap("");
    here.value = null; // the list is about what was found
    if (planning) pin.value = { lat: found.lat, lng: found.lng };
    view?.fly(found, found.zoom);
  };
  return (
    <Panel title={t.map.network} about={chosen}>
      <Heading />
      {notice && <p class="note">{notice}</p>}
      {empty === false && <Totals />}
      <Search
        hint={t.search.public}
        nothing={t.search.publicNothing}
        {...useNamed()}
        onPick={find}
        onId={showOnMap}
      />
      {chosen ? (
        <PublicCard id={chosen} />
      ) : (
        <>
          <NoStreets />
          {rewardsOn() && empty === false && <Tabs label={t.map.tool} tabs={tools} chosen={tool} onChoose={setTool} />}
          {tool === "window" ? (
            <Window />
          ) : (
            <>
              {empty === false && <FindWifi last={last.current} onChoose={choose} />}
              <p class="hint">{(empty ? t.public.empty : t.public.intro)((text) => <a href="#/sign-in">{text}</a>)}</p>
            </>
          )}
        </>
      )}
      {!empty && (
        <ul class="legend" aria-label={t.map.colours}>
          <li class="online">{t.map.online}</li>
          <li class="offline">{t.map.offline}</li>
        </ul>
      )}
      <p class="small">
        <a href="/open">{t.public.openData}</a>
      </p>
    </Panel>
  );
}

/** Whose map it is. On a phone, the bar has no room for that. */
function Heading() {
  const { name, description } = useCell(network);
  if (!isNamed()) return <h1>{t.map.title}</h1>;
  return (
    <>
      <h1>{name}</h1>
      {description && <p>{description}</p>}
    </>
  );
}

interface Network {
  hotspots: number;
  online: number;
  traffic: { month: string; gb: number } | null;
}

/** The network in three figures. */
function Totals() {
  const { hotspots, online, traffic } = useFeed<Network>("/open/network.json") ?? {};
  if (hotspots === undefined || online === undefined) return null;
  const thisMonth = traffic?.month === new Date(now()).toISOString().slice(0, 7);
  return (
    <Tiles
      class="figures"
      label={t.public.figures}
      of={[
        [t.words.hotspots, format.count(hotspots)],
        [t.map.online, format.count(online)],
        traffic && [thisMonth ? t.public.thisMonth : format.month(traffic.month), format.traffic(traffic.gb)],
      ]}
    />
  );
}

function PublicCard({ id }: { id: string }) {
  const shown = useFeed<OpenHotspot>(`/open/collections/hotspots/items/${encodeURIComponent(id)}`);
  useMarked(shown ? placeOf(shown) : undefined);
  return (
    <section class="card" aria-live="polite">
      {shown === null && <p>{t.public.gone}</p>}
      {shown && <Properties of={shown} />}
      <button type="button" class="quiet" onClick={() => showOnMap("")}>
        {t.words.back}
      </button>
    </section>
  );
}

function Properties({ of }: { of: OpenHotspot }) {
  const { id, name, status, address, ssid, open_now, open_until, opens_at, timezone } = of.properties;
  return (
    <>
      <div class="head">
        <h2>{name ?? id}</h2>
        <StatusBadge status={status} />
      </div>
      <Facts
        of={[
          ssid && [t.words.network, ssid],
          address && [t.words.address, address],
          [t.words.hours, format.opening(open_now, open_until ?? opens_at, timezone, now())],
        ]}
      />
      <div class="line">
        <a class="quiet" href={`/h/${encodeURIComponent(id)}`}>
          {t.public.page}
        </a>
        <Directions class="quiet" name={name ?? id} to={placeOf(of)} from={here.value} />
      </div>
    </>
  );
}
