// What a hotspot's device runs, and what is wrong with how it counts, for its operator.
import * as format from "../format";
import { isOlder } from "../inventory";
import { t } from "../messages";
import { Ago } from "../parts/ago";
import { Facts, type Fact } from "../parts/facts";
import type { Agent } from "../types";

export function AgentFacts({ agent }: { agent: Agent }) {
  const facts: Fact[] = [
    [t.agent.agent, agent.version],
    [t.agent.model, agent.model],
    [t.agent.firmware, agent.firmware],
    [t.agent.kernel, agent.kernel],
    [t.agent.channel, agent.channel],
    [t.agent.bssid, agent.bssid],
    [t.agent.radios, agent.radios],
    [t.agent.reported, <Ago at={agent.reported_at} />],
  ];
  return (
    <section class="card">
      <h2>{t.agent.title}</h2>
      <Facts of={facts.filter((fact) => fact && fact[1] !== undefined)} />
      {isOlder(agent.version, AGENT_VERSION) && (
        <p class="note">
          <span>{t.agent.older(AGENT_VERSION, (text) => <a href="/docs/agent">{text}</a>)}</span>
        </p>
      )}
      <p class="hint">{t.agent.hint}</p>
    </section>
  );
}

/** Says that counters fell, and what to do about it. */
export function CountersFell({ at }: { at: string }) {
  return (
    <p class="note bad">
      <span>
        {t.agent.fell(
          format.time(at),
          (text) => (
            <a href="/docs/agent">{text}</a>
          ),
          (text) => (
            <a href="/docs/quickstart-devices">{text}</a>
          ),
        )}
      </span>
    </p>
  );
}
