// A form that creates a key: one with scopes, or one with which many devices enrol.
import { useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { now } from "../clock";
import { rewardsOn } from "../head";
import { t } from "../messages";
import { Check, Field } from "../parts/field";
import { ErrorNote, faultAt, useFirstFault } from "../parts/note";
import { useDoing } from "../parts/use";
import * as permissions from "../permissions";
import { session } from "../session";
import type { CreatedKey, Scope } from "../types";

const scopes: Scope[] = ["hotspots:write", "hotspots:verify", "rewards:read", "checkins:write", "devices:enrol", "keys:manage", "admin"];

/** Whether whoever looks may create a key with the scope. */
const mayGrant = (scope: Scope): boolean => !!session.who.value && permissions.mayGrant(session.who.value, scope);

/** The fields at which their faults stand. */
const fields = ["name", "max_enrolments", "expires_at", "hotspots", "addresses"];

const dayIn = (days: number): string => new Date(now() + days * 86_400_000).toISOString().slice(0, 10);

/** What is typed into a field as a list. */
const listed = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

export function NewKey({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<Scope[]>([]);
  const [newUser, setNewUser] = useState(false);
  const [terms, setTerms] = useState<Terms>({ most: "", until: dayIn(7), hotspots: "", addresses: "", register: false });
  const [made, setMade] = useState<CreatedKey>();
  const { busy, error, submit } = useDoing();
  const enrols = chosen.includes("devices:enrol");
  const choose = (scope: Scope, checked: boolean): void => {
    if (scope === "devices:enrol") setChosen(checked ? [scope] : []); // it is always alone
    else setChosen(scopes.filter((s) => s !== "devices:enrol" && (s === scope ? checked : chosen.includes(s))));
  };
  const form = useFirstFault(error);
  const seen = enrols && error instanceof ApiError && error.faults.length > 0 && error.faults.every(({ field }) => fields.includes(field.replace("[0]", "")));
  const send = submit(async () => {
    const body = { name, scopes: chosen, ...(enrols ? bodyOf(terms) : newUser && { user_id: "new" }) };
    setMade((await ask<CreatedKey>("/v1/keys", { method: "POST", body })).data);
    setName("");
    onCreated();
  });
  return (
    <form ref={form} onSubmit={send} noValidate>
      <h2>{t.keys.createKey}</h2>
      <Field label={t.words.name} name="key-name" value={name} onInput={(event) => setName(event.currentTarget.value)} fault={faultAt(error, "name")} />
      <fieldset>
        <legend>{t.keys.scopes}</legend>
        <div class="checks">
          {scopes.filter((scope) => mayGrant(scope) && (scope !== "rewards:read" || rewardsOn())).map((scope) => (
            <Check key={scope} label={scope} value={scope} checked={chosen.includes(scope)} onChange={(checked) => choose(scope, checked)} />
          ))}
        </div>
      </fieldset>
      {enrols && <EnrolmentTerms terms={terms} onChange={setTerms} error={error} />}
      {!enrols && mayGrant("admin") && <Check label={t.keys.forNewUser} name="new-user" checked={newUser} onChange={setNewUser} />}
      {!seen && <ErrorNote error={error} at={["name"]} />}
      <button type="submit" class="button" disabled={busy}>
        {t.keys.create}
      </button>
      <div aria-live="polite">{made && <ShownOnce made={made} />}</div>
    </form>
  );
}

/** What an enrolment key is for, as it is typed. */
interface Terms {
  most: string;
  until: string; // the last day
  hotspots: string;
  addresses: string;
  register: boolean;
}

function bodyOf(terms: Terms) {
  return {
    ...(terms.most && { max_enrolments: Number(terms.most) }),
    ...(terms.until && { expires_at: `${terms.until}T23:59:59Z` }),
    hotspots: listed(terms.hotspots),
    addresses: listed(terms.addresses),
    may_register: terms.register,
  };
}

function EnrolmentTerms({ terms, onChange, error }: { terms: Terms; onChange: (terms: Terms) => void; error: unknown }) {
  const fault = (field: string): string => faultAt(error, field) || faultAt(error, `${field}[0]`);
  const set = (change: Partial<Terms>): void => onChange({ ...terms, ...change });
  return (
    <fieldset>
      <legend>{t.keys.enrolment}</legend>
      <p class="hint">{t.keys.enrolmentIs((text) => <a href="/docs/quickstart-operators#enrol-many-devices">{text}</a>)}</p>
      <div class="terms">
        <Field
          label={t.keys.most}
          name="max-enrolments"
          type="number"
          inputMode="numeric"
          min={1}
          max={100_000}
          value={terms.most}
          fault={fault("max_enrolments")}
          onInput={(event) => set({ most: event.currentTarget.value })}
        />
        <Field
          label={t.keys.until}
          name="until"
          type="date"
          min={dayIn(0)}
          max={dayIn(365)}
          value={terms.until}
          fault={fault("expires_at")}
          onInput={(event) => set({ until: event.currentTarget.value })}
        />
      </div>
      <Field
        label={t.keys.onlyHotspots}
        hint={t.keys.onlyHotspotsHint}
        name="hotspots"
        autoComplete="off"
        spellcheck={false}
        value={terms.hotspots}
        fault={fault("hotspots")}
        onInput={(event) => set({ hotspots: event.currentTarget.value })}
      />
      <Field
        label={t.keys.onlyAddresses}
        hint={t.keys.onlyAddressesHint}
        name="addresses"
        autoComplete="off"
        spellcheck={false}
        value={terms.addresses}
        fault={fault("addresses")}
        onInput={(event) => set({ addresses: event.currentTarget.value })}
      />
      <Check label={t.keys.mayRegister} name="may-register" checked={terms.register} onChange={(register) => set({ register })} />
    </fieldset>
  );
}

/** A new key, which nobody can see again. */
export function ShownOnce({ made }: { made: CreatedKey }) {
  const [copied, setCopied] = useState("");
  return (
    <div class="note good">
      <p>{t.keys.once(made.name)}</p>
      <p>
        <code class="secret">{made.key}</code>
      </p>
      {made.max_enrolments > 0 && <p>{t.keys.useIt}</p>}
      {"clipboard" in navigator && (
        <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(made.key).then(() => setCopied(made.id))}>
          {copied === made.id ? t.keys.copied : t.keys.copy}
        </button>
      )}
    </div>
  );
}
