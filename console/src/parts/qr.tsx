// A link that is shown once: to copy, and as a picture for a phone's camera.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import { t } from "../messages";

interface Drawn {
  qr: string[] | null;
  qr_size: number;
}

/** Gives the clipboard a text, where pages may. */
export function Copy({ text, label, done }: { text: string; label: string; done: string }) {
  const [copied, setCopied] = useState("");
  if (!("clipboard" in navigator)) return null;
  return (
    <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}>
      <span role="status">{copied === text ? done : label}</span>
    </button>
  );
}

/** Whether a link leads whoever follows it to their own computer. */
const leadsHere = (link: string): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(new URL(link).hostname);

/** The server draws the picture; without one, the link is enough. */
export function ShownLink({ title, link, hint }: { title: string; link: string; hint: string }) {
  const [drawn, setDrawn] = useState<Drawn>();
  useEffect(() => {
    setDrawn(undefined);
    ask<Drawn>("/console/qr", { method: "POST", body: { text: link } }).then(
      ({ data }) => setDrawn(data),
      () => undefined,
    );
  }, [link]);
  return (
    <div class="note good shown-link">
      <p>{title}</p>
      <p>
        <code class="secret">{link}</code>
      </p>
      <Copy text={link} label={t.keys.copy} done={t.keys.copied} />
      {drawn?.qr && (
        <svg class="qr" viewBox={`0 0 ${drawn.qr_size} ${drawn.qr_size}`} role="img" aria-label={t.invitations.qr}>
          <rect width={drawn.qr_size} height={drawn.qr_size} />
          <path d={drawn.qr.join("")} />
        </svg>
      )}
      <p class="small">{hint}</p>
      {leadsHere(link) && <p class="small">{t.invitations.onlyHere(<code>--public-url</code>)}</p>}
    </div>
  );
}
