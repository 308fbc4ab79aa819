// One hotspot, for its operator.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import type { LinkCode } from "../linking";
import { placeIn } from "../geo";
import { isPublic, rewardsOn } from "../head";
import { changes } from "../live";
import { t } from "../messages";
import { language } from "../messages/language";
import { ErrorNote } from "../parts/note";
import { StatusBadge } from "../parts/status";
import { useAsk, useDoing } from "../parts/use";
import { go } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import type { Hotspot } from "../types";
import { AgentFacts, CountersFell } from "./agent";
import { HotspotFacts } from "./card";
import { Days } from "./days";
import { HandOver } from "./handover";
import { Held } from "./held";
import { HistoryCharts } from "./history";
import { Linking } from "./linking";
import { OthersSee } from "./privacy";
import { ReplaceForm } from "./replace";
import { SettingsForm } from "./settings";

export function HotspotPage({ id, part }: { id: string; part: string }) {
  const path = `/v1/hotspots/${encodeURIComponent(id)}`;
  const [replacing, setReplacing] = useState(false);
  const { answer, error, reload, halt } = useAsk<Hotspot>(path, useCell(changes));
  if (!answer) {
    return (
      <section class="page">
        <p>
          <a href="#/hotspots">{t.app.myHotspots}</a>
        </p>
        <h1>{t.hotspot.title}</h1>
        {error ? <ErrorNote error={error} /> : <p class="waiting">{t.words.wait}</p>}
      </section>
    );
  }
  const hotspot = answer.data;
  const writes = session.mayFor("hotspots", hotspot.operator_id);
  const links = session.mayFor("devices", hotspot.operator_id, id);
  const readsRewards = rewardsOn() && session.mayFor("rewards", hotspot.operator_id);
  return (
    <section class="page">
      <p>
        <a href="#/hotspots">{t.app.myHotspots}</a>
      </p>
      <div class="head">
        <h1>{hotspot.name}</h1>
        <StatusBadge status={hotspot.status} />
      </div>
      {writes && (
        <div class="line">
          <button type="button" class="quiet" onClick={edit}>
            {t.correct.edit}
          </button>
          <a class="quiet" href={`#/move/${hotspot.id}`}>
            {t.correct.move}
          </a>
          <button type="button" class="quiet" aria-expanded={replacing} onClick={() => setReplacing(!replacing)}>
            {t.correct.replace}
          </button>
          {hasPage(hotspot) && (
            <a class="quiet" href={`/h/${encodeURIComponent(hotspot.id)}/poster?lang=${language}`}>
              {t.hotspot.poster}
            </a>
          )}
        </div>
      )}
      <ErrorNote error={error} />
      {hotspot.status === "pending" && <p class="note">{t.hotspot.pendingUntil(missing(hotspot))}</p>}
      {hotspot.location.unverified_reason && (
        <p class="note">
          <span>{t.hotspot.unverified(hotspot.location.unverified_reason, (text) => <a href={moveTo(hotspot)}>{text}</a>)}</span>
        </p>
      )}
      {hotspot.metrics.counters_fell_at && <CountersFell at={hotspot.metrics.counters_fell_at} />}
      {readsRewards && <Held user={hotspot.operator_id ?? "me"} hotspot={id} />}
      <div class="columns">
        <section class="card">
          <h2>{t.hotspot.now}</h2>
          <HotspotFacts hotspot={hotspot} />
        </section>
        <div>
          {links && <Device hotspot={hotspot} replacing={replacing} onReplacing={setReplacing} onChanged={reload} />}
          {writes && hotspot.type === "home" && <OthersSee hotspot={hotspot} />}
          {hotspot.device.agent && <AgentFacts agent={hotspot.device.agent} />}
          {writes && <SettingsForm hotspot={hotspot} etag={answer.etag} onChanged={reload} />}
        </div>
      </div>
      <HistoryCharts hotspot={hotspot} />
      {readsRewards && <Days id={id} since={hotspot.created_at.slice(0, 10)} wanted={part === "days"} />}
      {writes && <HandOver hotspot={hotspot} />}
      {writes && <Deletion hotspot={hotspot} etag={answer.etag} onBegun={halt} onFailed={reload} />}
    </section>
  );
}

/** Whether everyone may see it: homes, and what is not in service yet, have no page. */
const hasPage = ({ type, status }: Hotspot): boolean => isPublic() && type !== "home" && status !== "pending";

/** Goes to the form with the first of its fields. */
function edit(): void {
  const form = document.getElementById("edit");
  form?.scrollIntoView({ block: "start" });
  form?.querySelector("input")?.focus({ preventScroll: true });
}

/** Where a hotspot is moved: its pin stands where the reason says that it was found. */
function moveTo({ id, location }: Hotspot): string {
  const found = placeIn(location.unverified_reason ?? "");
  return `#/move/${id}${found ? `?to=${found.lat},${found.lng}` : ""}`;
}

/** What has to happen before the hotspot can be online. */
function missing({ location, device }: Hotspot): string {
  if (location.verified) return t.hotspot.linkedFirst;
  return device.linked ? t.hotspot.verifiedFirst : t.hotspot.bothFirst(t.hotspot.verifiedFirst, t.hotspot.linkedFirst);
}

interface DeviceProps {
  hotspot: Hotspot;
  replacing: boolean;
  onReplacing: (replacing: boolean) => void;
  onChanged: () => void;
}

/** Links, unlinks and replaces the access point itself. */
function Device({ hotspot, replacing, onReplacing, onChanged }: DeviceProps) {
  const [link, setLink] = useState<LinkCode>();
  const { busy, error, run } = useDoing();
  const path = `/v1/hotspots/${hotspot.id}`;
  const linkedAt = hotspot.device.linked_at ?? null;
  const create = async (): Promise<void> => {
    const { data } = await ask<{ code: string; expires_at: string }>(`${path}/link-code`, { method: "POST" });
    setLink({ ...data, linkedBefore: linkedAt });
  };
  return (
    <section class="card">
      <h2>{t.words.device}</h2>
      <p>
        {hotspot.device.linked
          ? t.hotspot.linkedSince(format.time(linkedAt))
          : t.hotspot.noDevice((text) => <a href="/docs/agent">{text}</a>)}
      </p>
      {replacing && (
        <ReplaceForm
          hotspot={hotspot}
          onCancel={() => onReplacing(false)}
          onReplaced={() => {
            onReplacing(false);
            onChanged();
            run(create);
          }}
        />
      )}
      {link && <Linking key={link.code} hotspot={hotspot} link={link} onChanged={onChanged} />}
      <ErrorNote error={error} />
      <div class="line">
        <button type="button" class={hotspot.device.linked ? "quiet" : "button"} disabled={busy} onClick={() => run(create)}>
          {t.hotspot.createCode}
        </button>
        {hotspot.device.linked && (
          <button
            type="button"
            class="quiet"
            disabled={busy}
            onClick={() => {
              if (!confirm(t.hotspot.confirmUnlink)) return;
              run(async () => {
                await ask(`${path}/device`, { method: "DELETE" });
                onChanged();
              });
            }}
          >
            {t.hotspot.unlink}
          </button>
        )}
      </div>
    </section>
  );
}

/** Deletes the hotspot. The page must not follow it meanwhile: it would ask for what is gone. */
function Deletion({ hotspot, etag, onBegun, onFailed }: { hotspot: Hotspot; etag: string | null; onBegun: () => void; onFailed: () => void }) {
  const { busy, error, run } = useDoing();
  return (
    <section class="card">
      <h2>{t.words.delete}</h2>
      <p>{t.hotspot.deletion}</p>
      <ErrorNote error={error} />
      <button
        type="button"
        class="quiet danger"
        disabled={busy}
        onClick={() => {
          if (!confirm(t.hotspot.confirmDelete(hotspot.name))) return;
          run(async () => {
            onBegun();
            try {
              await ask(`/v1/hotspots/${hotspot.id}`, { method: "DELETE", headers: etag ? { "If-Match": etag } : {} });
            } catch (error) {
              onFailed();
              throw error;
            }
            go("/hotspots");
          });
        }}
      >
        {t.hotspot.deleteThis}
      </button>
    </section>
  );
}
