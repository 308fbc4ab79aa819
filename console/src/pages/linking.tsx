// A code for linking a device: the command to run with it, and what comes of it, step by step.
import { useEffect, useState } from "preact/hooks";
import { now } from "../clock";
import { commandsFor, left, reachable, stepOf, type Command, type Commands, type LinkCode } from "../linking";
import { t } from "../messages";
import type { Hotspot } from "../types";

const second = 1_000; // milliseconds
const often = 5; // seconds between two questions, where no event tells

interface Props {
  hotspot: Hotspot;
  link: LinkCode;
  onChanged: () => void; // asks for the hotspot again
}

export function Linking({ hotspot, link, onChanged }: Props) {
  const [at, setAt] = useState(now);
  const [used, setUsed] = useState(false);
  const step = stepOf(link, used, hotspot, at);
  const goesOn = step === "waiting" || step === "linked";
  useEffect(() => {
    if (step === "linked" || step === "heard") setUsed(true);
  }, [step]);
  useEffect(() => {
    if (!goesOn) return;
    let ticks = 0;
    const timer = setInterval(() => {
      setAt(now());
      if (++ticks % often === 0 && !document.hidden) onChanged();
    }, second);
    return () => clearInterval(timer);
  }, [goesOn, onChanged]);
  if (!step) return null;
  if (step === "expired") {
    return (
      <p class="note" role="status">
        {t.linking.expired}
      </p>
    );
  }
  return (
    <div class="linking">
      {step === "waiting" && <Code link={link} at={at} />}
      <div role="status">
        <ol class="steps">
          <li class={step === "waiting" ? "now" : "done"}>{step === "waiting" ? t.linking.waiting : t.linking.linked}</li>
          <li class={step === "heard" ? "done" : step === "linked" ? "now" : ""}>
            {step !== "heard" ? t.linking.waitingHeard : hotspot.status === "pending" ? t.linking.heardPending : t.linking.heard}
          </li>
        </ol>
      </div>
    </div>
  );
}

function Code({ link, at }: { link: LinkCode; at: number }) {
  const [commands, setCommands] = useState<Commands>();
  const [system, setSystem] = useState<"openwrt" | "linux">("openwrt");
  useEffect(() => {
    commandsFor(link.code).then(setCommands, () => setCommands(undefined)); // the code is enough for who has the agent
  }, [link.code]);
  return (
    <>
      <p>
        <strong class="code">{link.code}</strong>
        <br />
        <span class="small" role="timer" aria-live="off">
          {t.linking.left(left(link.expires_at, at))}
        </span>
      </p>
      {commands && (
        <>
          {!reachable(commands.url, location.hostname) && <p class="note bad">{t.linking.unreachable(commands.url)}</p>}
          <div class="tabs" role="group" aria-label={t.linking.system}>
            <button type="button" aria-pressed={system === "openwrt"} onClick={() => setSystem("openwrt")}>
              {t.linking.openwrt}
            </button>
            <button type="button" aria-pressed={system === "linux"} onClick={() => setSystem("linux")}>
              {t.linking.linux}
            </button>
          </div>
          <p>{t.linking.run}</p>
          <ShownCommand key={commands[system].command} code={link.code} of={commands[system]} />
        </>
      )}
      <p class="hint">
        {t.linking.others(
          (text) => (
            <a href="/docs/agent">{text}</a>
          ),
          (text) => (
            <a href="/docs/quickstart-devices">{text}</a>
          ),
        )}
      </p>
    </>
  );
}

function ShownCommand({ code, of: { command, qr, qr_size } }: { code: string; of: Command }) {
  const [copied, setCopied] = useState(false);
  return (
    <>
      <pre class="command" tabIndex={0}>
        <code>
          {command.slice(0, -code.length)}
          <span class="whole">{code}</span>
        </code>
      </pre>
      {"clipboard" in navigator && (
        <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(command).then(() => setCopied(true))}>
          {copied ? t.linking.copied : t.linking.copy}
        </button>
      )}
      {qr && (
        <details>
          <summary>{t.linking.qr}</summary>
          <svg class="qr" viewBox={`0 0 ${qr_size} ${qr_size}`} role="img" aria-label={t.linking.qr}>
            <rect width={qr_size} height={qr_size} />
            <path d={qr.join("")} />
          </svg>
        </details>
      )}
    </>
  );
}
