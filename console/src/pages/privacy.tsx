// What others see of homes: what staff set for the network, and what an operator sees of it.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { boxAround, distance } from "../geo";
import { t } from "../messages";
import { Facts } from "../parts/facts";
import { ErrorNote } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import type { Coverage, Hotspot, NetworkSettings } from "../types";

const settings = "/v1/settings";
const farthest = 550; // metres: the public place of a home is never farther away

/** For admin: whether homes are hidden from strangers. */
export function HomePrivacy() {
  const { answer, error, reload } = useAsk<NetworkSettings>(settings);
  const change = useDoing();
  const is = answer?.data.home_privacy;
  const set = (home_privacy: NetworkSettings["home_privacy"]): void =>
    change.run(async () => {
      await ask(settings, { method: "PATCH", body: { home_privacy } });
      reload();
    });
  const option = (value: NetworkSettings["home_privacy"], label: string, text: string) => (
    <label class="check" key={value}>
      <input type="radio" name="home-privacy" value={value} checked={is === value} disabled={change.busy || !is} onChange={() => set(value)} />
      <span>
        <strong>{label}</strong>
        <br />
        <span class="small">{text}</span>
      </span>
    </label>
  );
  return (
    <section class="card wide" id="home-privacy">
      <h2>{t.privacy.title}</h2>
      <fieldset>
        <legend>{t.privacy.legend}</legend>
        <div class="checks">
          {option("blur", t.privacy.blur, t.privacy.blurText)}
          {option("off", t.privacy.off, t.privacy.offText)}
        </div>
      </fieldset>
      <ErrorNote error={error} />
      <ErrorNote error={change.error} />
      <p role="status">{is && (is === "blur" ? t.privacy.isBlur : t.privacy.isOff)}</p>
      <p>
        <a href="/docs/privacy">{t.privacy.docs}</a>
      </p>
    </section>
  );
}

/** On the first run: what we recommend, in one click. */
export function RecommendPrivacy() {
  const [done, setDone] = useState(false);
  const { busy, error, run } = useDoing();
  const hide = (): void =>
    run(async () => {
      await ask(settings, { method: "PATCH", body: { home_privacy: "blur" } });
      setDone(true);
    });
  return (
    <>
      <h2>{t.privacy.ask}</h2>
      <p>{t.privacy.advice}</p>
      <ErrorNote error={error} />
      <p role="status">{done && t.privacy.done}</p>
      {!done && (
        <button type="button" class="quiet" disabled={busy} onClick={hide}>
          {t.privacy.hide}
        </button>
      )}
    </>
  );
}

/** For the operator of a home: what everyone else sees of it. */
export function OthersSee({ hotspot }: { hotspot: Hotspot }) {
  const { data } = useAsk<NetworkSettings>(settings).answer ?? {};
  const hidden = data?.home_privacy === "blur";
  const { north, south, east, west } = boxAround(hotspot.location, farthest);
  const near = `/v1/coverage?north=${north}&south=${south}&east=${east}&west=${west}&zoom=22`;
  const { answer, error } = useAsk<Coverage>(hidden ? near : null);
  const shown = answer?.data.hotspots.find((one) => "id" in one && one.id === hotspot.id);
  if (!data) return null;
  return (
    <section class="card" id="others-see">
      <h2>{t.privacy.others}</h2>
      <ErrorNote error={error} />
      {hidden ? (
        <Facts
          of={[
            [
              t.privacy.place,
              shown
                ? t.privacy.approximate(format.degrees(shown.lat), format.degrees(shown.lng), format.metres(distance(hotspot.location, shown)))
                : t.privacy.later,
            ],
            [t.privacy.addressAndMac, t.words.hidden],
            [t.words.ssid, hotspot.settings.show_ssid ? hotspot.device.ssid : t.privacy.ssidHidden],
            [t.privacy.clients, t.words.hidden],
            [t.privacy.rest, t.privacy.shown],
          ]}
        />
      ) : (
        <p>{t.privacy.everything}</p>
      )}
    </section>
  );
}
