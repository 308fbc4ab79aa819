// The first steps of whoever is new: a passkey and recovery codes; and of who sets up a network,
// what it is called, where it is, and who comes next.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { network, presented } from "../head";
import { t } from "../messages";
import { canPasskeys } from "../passkeys";
import { mapView } from "../parts/maphost";
import { ErrorNote, faultAt } from "../parts/note";
import { Panel } from "../parts/panel";
import { Search } from "../parts/search";
import { useDoing } from "../parts/use";
import { ZoneField } from "../parts/zone";
import { position } from "../position";
import { go } from "../router";
import { session } from "../session";
import { useCell } from "../state";
import { firstPage } from "../arrive";
import { NewCodes, NewPasskey, useDoors } from "./doors";
import { NetworkIdentity } from "./identity";
import { InviteStaff } from "./invitations";
import { RecommendPrivacy } from "./privacy";
import type { NetworkSettings } from "../types";

type Step = "passkey" | "codes" | "network" | "place" | "people";
const ofPerson: Step[] = ["passkey", "codes"];
const ofNetwork: Step[] = [...ofPerson, "network", "place", "people"];

/** How far one is, in words and as a bar. */
export function Progress({ step, of }: { step: number; of: number }) {
  return (
    <p class="progress small">
      <progress value={step} max={of} aria-hidden="true" /> {t.setUp.step(step, of)}
    </p>
  );
}

/** How many steps there are to set up a network, with the first: who does it. */
export const networkSteps = (passkeys: boolean): number => 1 + ofNetwork.length - (passkeys ? 0 : 1);

/** Of a network, or of a person who joined one. */
export function SetUpPage({ page, id }: { page: string; id: string }) {
  const doors = useDoors();
  const who = useCell(session.who);
  if (!who?.person) {
    return (
      <section class="page narrow">
        <h1>{t.app.setUp}</h1>
        <p class="note">{t.setUp.forPeople}</p>
      </section>
    );
  }
  if (!doors) return <p class="waiting">{t.words.wait}</p>;
  const whole = page === "set-up";
  const steps = (whole ? ofNetwork : ofPerson).filter((step) => step !== "passkey" || (doors.passkeys && canPasskeys()));
  const at = Math.max(steps.indexOf(id as Step), 0);
  const step = steps[at] ?? "codes";
  const before = whole ? 1 : 0;
  const on = (): void => go(at + 1 < steps.length ? `/${page}/${steps[at + 1]}` : firstPage());
  return <Body key={step} step={step} progress={<Progress step={at + 1 + before} of={steps.length + before} />} onDone={on} />;
}

function Body({ step, progress, onDone }: { step: Step; progress: ComponentChildren; onDone: () => void }) {
  if (step === "place") return <Place progress={progress} onDone={onDone} />;
  return (
    <section class="page narrow">
      {progress}
      <h1>{t.setUp[step]}</h1>
      {step === "passkey" && (
        <div class="card">
          <p>{t.passkeys.about}</p>
          <NewPasskey onMade={onDone} />
        </div>
      )}
      {step === "codes" && (
        <div class="card">
          <p>{t.codes.about}</p>
          <NewCodes verb={t.codes.make} onDone={onDone} />
        </div>
      )}
      {step === "network" && (
        <NetworkIdentity brief onNext={onDone}>
          <RecommendPrivacy />
        </NetworkIdentity>
      )}
      {step === "people" && (
        <div class="card wide">
          <p>{t.setUp.peopleText}</p>
          <InviteStaff />
        </div>
      )}
      {step !== "network" && (
        <p>
          <button type="button" class={step === "people" ? "button" : "quiet"} onClick={onDone}>
            {step === "people" ? t.setUp.finish : t.setUp.later}
          </button>
        </p>
      )}
    </section>
  );
}

/** Where the map of the network begins: what it shows when the button is pressed. */
function Place({ progress, onDone }: { progress: ComponentChildren; onDone: () => void }) {
  const view = useCell(mapView);
  const [zone, setZone] = useState(network.value.timezone || format.zone());
  const { busy, error, run } = useDoing();
  const finding = useDoing();
  useEffect(() => view?.show({ kind: "network" }), [view]);
  const find = (): void => finding.run(async () => view?.fly(await position(), 13));
  const keep = (): void =>
    run(async () => {
      const sight = view?.sight.value;
      const body = { timezone: zone.trim() || null, ...(sight && { start_view: { lat: sight.lat, lng: sight.lng, zoom: sight.zoom } }) };
      presented((await ask<NetworkSettings>("/v1/settings", { method: "PATCH", body })).data);
      onDone();
    });
  return (
    <Panel title={t.setUp.place}>
      {progress}
      <h1>{t.setUp.place}</h1>
      <p>{t.setUp.placeText}</p>
      <Search candidates={[]} onText={() => undefined} onPick={(found) => view?.fly(found, found.zoom)} hint={t.setUp.search} nothing={t.search.allNothing} />
      <ErrorNote error={finding.error} />
      <details>
        <summary>{t.setUp.zone(zone)}</summary>
        <ZoneField name="timezone" value={zone} onZone={setZone} hint={t.identity.zoneHint} fault={faultAt(error, "timezone")} />
      </details>
      <ErrorNote error={error} />
      <div class="line">
        <button type="button" class="button" disabled={busy || !view} onClick={keep}>
          {t.setUp.here}
        </button>
        <button type="button" class="quiet" disabled={finding.busy} onClick={find}>
          {t.setUp.whereIAm}
        </button>
        <button type="button" class="quiet" onClick={onDone}>
          {t.setUp.later}
        </button>
      </div>
    </Panel>
  );
}
