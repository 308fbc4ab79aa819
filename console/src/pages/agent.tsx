// What a hotspot's device runs, and what is wrong with how it counts, for its operator.
import * as format from "../format";
import { isOlder } from "../inventory";
import type { Agent } from "../types";

export function AgentFacts({ agent }: { agent: Agent }) {
  const facts: [name: string, value: string | number | undefined][] = [
    ["Agent", agent.version],
    ["Model", agent.model],
    ["Firmware", agent.firmware],
    ["Kernel", agent.kernel],
    ["Channel", agent.channel],
    ["BSSID", agent.bssid],
    ["Radios", agent.radios],
    ["Reported", format.time(agent.reported_at)],
  ];
  return (
    <section class="card">
      <h2>What the device runs</h2>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
      {isOlder(agent.version, AGENT_VERSION) && (
        <p class="note">
          <span>
            This agent is older than {AGENT_VERSION}. <a href="/docs/agent">Install the current one</a>.
          </span>
        </p>
      )}
      <p class="hint">The device reports this once a day. The time is that of the last change.</p>
    </section>
  );
}

/** Says that counters fell, and what to do about it. */
export function CountersFell({ at }: { at: string }) {
  return (
    <p class="note bad">
      <span>
        The device's traffic counters fell on {format.time(at)} although it had not restarted, so some of its traffic may not be paid. This happens
        when Wi-Fi restarts, or when counters of 32 bits start again. Install the <a href="/docs/agent">current agent</a>, which counts through
        both. If the device runs its maker's program instead, ask the maker for one that says when its counters start again (
        <a href="/docs/quickstart-devices">how</a>).
      </span>
    </p>
  );
}
