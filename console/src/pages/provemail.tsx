// Where the mail leads by which someone shows that an address is theirs. Like a link to sign in it
// waits for a press.
import { useState } from "preact/hooks";
import { ask } from "../api";
import { refresh } from "../arrive";
import { t } from "../messages";
import { DoorNote } from "../parts/doornote";
import { useDoing } from "../parts/use";

export function ProveMailPage({ token }: { token: string }) {
  const { busy, error, run } = useDoing();
  const prove = (): void =>
    run(async () => {
      await ask("/console/mail/finish", { method: "POST", body: { token }, key: "" });
      await refresh();
      location.replace("#/me");
    });
  return (
    <section class="page narrow">
      <h1>{t.me.mail}</h1>
      <div class="card">
        <p>{t.me.mailIsYours}</p>
        <DoorNote error={error} refused={t.me.mailRefused} />
        <button type="button" class="button" disabled={busy} onClick={prove}>
          {t.me.mailConfirm}
        </button>
      </div>
    </section>
  );
}

/** Says that an address is not confirmed yet, and sends the mail for it. */
export function Unproven() {
  const [sent, setSent] = useState(false);
  const { busy, error, run } = useDoing();
  const send = (): void =>
    run(async () => {
      await ask("/console/mail/begin", { method: "POST", key: "" });
      setSent(true);
    });
  return (
    <div>
      <p class="hint">{t.me.mailUnproven}</p>
      <DoorNote error={error} />
      <button type="button" class="quiet" disabled={busy || sent} onClick={send}>
        {sent ? t.me.mailSent : t.me.mailSend}
      </button>
    </div>
  );
}
