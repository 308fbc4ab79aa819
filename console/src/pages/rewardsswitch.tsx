// Whether hotspots earn something, for admins to turn off and on from a day on.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { now } from "../clock";
import * as format from "../format";
import { rewardsOn } from "../head";
import { t } from "../messages";
import { Field } from "../parts/field";
import { ErrorNote, faultAt } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import type { AdoptedPolicy, NetworkSettings } from "../types";

const aDay = 86_400_000;
const followed = 2_000; // milliseconds until all servers have heard of it
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function RewardsSwitch() {
  const { answer, error, reload } = useAsk<NetworkSettings>("/v1/settings");
  const [from, setFrom] = useState(() => day(now() + aDay));
  const { busy, error: failed, submit } = useDoing();
  const is = answer?.data.rewards;
  const next = is && is.on === (is.changes_on === null) ? "off" : "on"; // from the last known change on
  const send = submit(async () => {
    if (!confirm(next === "off" ? t.rewardsSwitch.sureOff(format.date(from)) : t.rewardsSwitch.sureOn(format.date(from)))) return;
    const { data } = await ask<AdoptedPolicy>("/v1/rewards/policies", { method: "POST", body: { from, rewards: next, confirm: true } });
    reload();
    if (data.policy.effective_from <= day(now()) && rewardsOn() !== (next === "on")) setTimeout(() => location.reload(), followed); // every text is another
  });
  return (
    <form class="card wide" id="rewards-switch" onSubmit={send} noValidate>
      <h2>{t.rewardsSwitch.title}</h2>
      <p>{t.rewardsSwitch.about}</p>
      <ErrorNote error={error} />
      {is && (
        <>
          <p role="status">{t.rewardsSwitch.state(is.on, is.changes_on && format.date(is.changes_on))}</p>
          <Field
            label={t.rewardsSwitch.from}
            name="rewards-from"
            type="date"
            value={from}
            onInput={(event) => setFrom(event.currentTarget.value)}
            hint={t.rewardsSwitch.fromHint}
            fault={faultAt(failed, "from")}
          />
          <ErrorNote error={failed} at={["from"]} />
          <button type="submit" class="button" disabled={busy}>
            {next === "off" ? t.rewardsSwitch.turnOff : t.rewardsSwitch.turnOn}
          </button>
        </>
      )}
    </form>
  );
}
