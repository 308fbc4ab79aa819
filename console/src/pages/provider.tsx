// The network's provider of OpenID Connect: signing in there, for the first time or once more.
import { ask } from "../api";
import { t } from "../messages";
import { language } from "../messages/language";
import { leaveFor } from "../oidc";
import { ErrorNote } from "../parts/note";
import { useDoing } from "../parts/use";
import type { Person } from "../people";
import { useDoors } from "./doors";

interface Visit {
  purpose: "sign-in" | "link" | "fresh";
  invitation?: string; // to accept on return
}

/** Leads to the provider, which leads back to /oidc. */
export function ToProvider({ verb, ...visit }: Visit & { verb: string }) {
  const { busy, error, run } = useDoing();
  const signsIn = visit.purpose === "sign-in"; // of nobody, whoever may be signed in
  const leave = (): void =>
    run(async () => {
      const { data } = await ask<{ url: string }>("/console/oidc/begin", { method: "POST", body: { ...visit, language }, ...(signsIn && { key: "" }) });
      leaveFor(data.url, signsIn ? "" : location.hash);
    });
  return (
    <>
      <ErrorNote error={error} />
      <button type="button" class="quiet" disabled={busy} onClick={leave}>
        {verb}
      </button>
    </>
  );
}

/** Whether someone can sign in by the provider, and if not, how they come to. */
export function Provider({ person }: { person: Person }) {
  const name = useDoors()?.oidc?.name;
  if (!name) return null;
  return (
    <section class="card" id="provider">
      <h2>{name}</h2>
      <p>{person.doors.oidc ? t.provider.linked(name) : t.provider.about(name)}</p>
      {!person.doors.oidc && <ToProvider purpose="link" verb={t.provider.link(name)} />}
    </section>
  );
}
