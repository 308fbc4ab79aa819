// The map of the live network.
import { useCallback, useEffect, useState } from "preact/hooks";
import * as format from "../format";
import { pageOf } from "../listing";
import { changes, latest } from "../live";
import { t } from "../messages";
import { heardNetwork } from "../messages/language";
import { useMine } from "../mine";
import { mapView, useMapClick, wasEmpty } from "../parts/maphost";
import { Panel, Tabs } from "../parts/panel";
import { Search, type Candidate } from "../parts/search";
import { useAsk, useCalm } from "../parts/use";
import { movePin, parsePlan, plan, writePlan } from "../plan";
import { route, showOnMap } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { HotspotListed, NetworkSettings, Place } from "../types";
import { HotspotCard } from "./card";
import { CoverageFigures } from "./figures";
import { NoStreets } from "./getstreets";
import { Nearby } from "./nearby";
import { WhatIf } from "./whatif";

const tools = [
  { id: "nearby", name: t.map.nearby },
  { id: "what-if", name: t.map.whatIf },
];

export function NetworkMap() {
  const view = useCell(mapView);
  const version = useCell(changes);
  const at = useCell(route);
  const [tool, setTool] = useState(at.query["plan"] ? "what-if" : "nearby");
  const [near, setNear] = useState<Place | null>(null);
  const setPlace = tool === "nearby" ? setNear : movePin;
  const chosen = at.page === "" ? at.id : "";
  const { hotspots: mine } = useMine("", 0);

  useEffect(() => {
    const planned = parsePlan(at.query["plan"] ?? "");
    if (planned && writePlan(planned) !== writePlan(plan.value)) {
      plan.value = planned;
      setTool("what-if");
    }
  }, [at]);
  useEffect(() => view?.show({ kind: "network" }), [view]);
  useEffect(() => view?.refresh(), [view, version]);
  useMapClick((hit) => {
    if (hit.id && tool === "nearby") {
      showOnMap(hit.id);
      setNear(null);
      return;
    }
    showOnMap("");
    setPlace(hit);
  }, [tool]);
  useEffect(() => {
    if (!view) return;
    // A tile that was refused for now is asked for again, not too soon.
    view.onTrouble = (status) => {
      if (status === 401) session.end(session.person ? t.errors.sessionEnded : t.errors.noLongerValid);
      if (status === 429 || status === 503) setTimeout(() => view.refresh(), 5_000);
    };
    return () => (view.onTrouble = () => undefined);
  }, [view]);

  const settings = useAsk<NetworkSettings>("/v1/settings").answer?.data;
  useEffect(() => view?.speak(settings?.language ?? ""), [view, settings]);
  useEffect(() => {
    if (settings) heardNetwork(settings.language);
  }, [settings]);
  useEffect(() => {
    view?.ring((mine ?? []).map(({ id, status, location: { lat, lng } }) => ({ lat, lng, id, status })));
    return () => view?.ring([]);
  }, [view, mine]);

  const choose = useCallback(
    (id: string, at?: Place) => {
      showOnMap(id);
      if (at) view?.fly(at);
    },
    [view],
  );
  const named = useNamed();
  const empty = useCell(wasEmpty);
  return (
    <Panel title={t.map.network} about={chosen}>
      <h1 class="sr-only">{t.map.title}</h1>
      <Search
        {...named}
        {...(seesAll() ? searchAll : searchOwn)}
        onId={(id) => choose(id)}
        onPick={(found) => {
          if (found.id) choose(found.id, found);
          else {
            showOnMap("");
            if (!found.zoom) setPlace(found);
            view?.fly(found, found.zoom);
          }
        }}
      />
      <CoverageFigures />
      {chosen ? (
        <HotspotCard id={chosen} onClose={() => showOnMap("")} />
      ) : (
        <>
          <NoStreets />
          <Tabs label={t.map.tool} tabs={tools} chosen={tool} onChoose={setTool} />
          {tool === "nearby" ? <Nearby place={near} onPlace={setNear} onChoose={choose} /> : <WhatIf />}
        </>
      )}
      {(!empty || Boolean(mine?.length)) && (
        <ul class="legend" aria-label={t.map.colours}>
          <li class="online">{t.map.online}</li>
          <li class="offline">{t.map.offline}</li>
          <li class="pending">{t.map.pending}</li>
          {mine && mine.length > 0 && <li class="own">{t.map.yours(format.count(mine.length))}</li>}
        </ul>
      )}
      <Activity />
    </Panel>
  );
}

/** Whether names of all hotspots can be searched, and not one's own alone. */
const seesAll = (): boolean => session.may("all_hotspots");

const searchAll = { hint: t.search.all, nothing: t.search.allNothing };
const searchOwn = { hint: t.search.own, nothing: t.search.ownNothing };

const settle = 250; // milliseconds without a key pressed before the server is asked

/** Hotspots by name: for staff all that there are, for others their own. */
function useNamed(): { candidates: Candidate[]; busy: boolean; onText: (text: string) => void } {
  const [text, setText] = useState("");
  const wanted = useCalm(text, settle);
  const list = seesAll() ? "/v1/hotspots" : session.hasAccount && !session.assigned ? "/v1/users/me/hotspots" : null;
  const { answer, loading } = useAsk<HotspotListed[]>(wanted && list ? pageOf(list, { page: 1, text: wanted }) : null);
  const known = text === wanted && answer && !loading;
  return {
    candidates: known ? answer.data.map(({ id, name, location }) => ({ id, name, lat: location.lat, lng: location.lng })) : [],
    busy: text !== wanted || loading,
    onText: setText,
  };
}

/** What happened last. */
function Activity() {
  const event = useCell(latest);
  return (
    <p class="small activity" aria-live="polite">
      {event ? t.map.justNow(t.map.event(event.type)) : ""}
    </p>
  );
}
