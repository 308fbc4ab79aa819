// What others see of homes: what staff set for the network, and what an operator sees of it.
import { useState } from "preact/hooks";
import { ask } from "../api";
import * as format from "../format";
import { boxAround, distance } from "../geo";
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
      <h2>Home privacy</h2>
      <fieldset>
        <legend>What strangers see of hotspots in homes</legend>
        <div class="checks">
          {option(
            "blur",
            "An approximate place (recommended)",
            "Up to 430 m away and always the same; no address, no MAC address, no clients or traffic, and the SSID only if the operator shows it. Operators and staff see the truth.",
          )}
          {option("off", "Everything", "The exact place, the address, the MAC address, the operator, and the traffic of the last 24 hours of every home, for anyone with a key.")}
        </div>
      </fieldset>
      <ErrorNote error={error} />
      <ErrorNote error={change.error} />
      <p role="status">{is && (is === "blur" ? "Homes are hidden." : "Homes are not hidden: anyone with a key can find them.")}</p>
      <p>
        <a href="/docs/privacy">What blur hides, and what not</a>
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
    <section>
      <h2>Will there be hotspots in homes?</h2>
      <p>
        Then hide where they are: strangers see an approximate place, and nothing that names the house or its people. You can change this
        later on the staff page.
      </p>
      <ErrorNote error={error} />
      <p role="status">{done && "Homes are hidden from strangers."}</p>
      {!done && (
        <button type="button" class="button" disabled={busy} onClick={hide}>
          Hide homes (recommended)
        </button>
      )}
    </section>
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
      <h2>What others see</h2>
      <ErrorNote error={error} />
      {hidden ? (
        <dl class="facts">
          <dt>Place</dt>
          <dd>
            {shown
              ? `an approximate one: ${format.degrees(shown.lat)}, ${format.degrees(shown.lng)}, ${format.metres(distance(hotspot.location, shown))} away`
              : "an approximate one, once it is in service"}
          </dd>
          <dt>Address, MAC address</dt>
          <dd>hidden</dd>
          <dt>Network (SSID)</dt>
          <dd>{hotspot.settings.show_ssid ? hotspot.device.ssid : "hidden; you can show it in the settings"}</dd>
          <dt>Clients and traffic</dt>
          <dd>hidden</dd>
          <dt>Name, hours, status</dt>
          <dd>shown</dd>
        </dl>
      ) : (
        <p>Everything on this page but clients and traffic by the hour: this network does not hide homes. Staff can change that.</p>
      )}
    </section>
  );
}
