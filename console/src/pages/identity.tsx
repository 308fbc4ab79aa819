// How the network presents itself to everyone: its name, what it is, whom to ask, its colour and
// its logo. Admins set it among the settings, and on the first run.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import { basemapText, isPublic, network, presented } from "../head";
import { logoFrom } from "../logo";
import { t } from "../messages";
import { Check, Field } from "../parts/field";
import { Facts } from "../parts/facts";
import { ErrorNote, useFaults, useFirstFault } from "../parts/note";
import { useAsk, useDoing } from "../parts/use";
import { ZoneField } from "../parts/zone";
import { askBeforeLeaving } from "../router";
import { isColour, shadesOf } from "../shades";
import { useCell } from "../state";
import type { NetworkSettings } from "../types";
import { GetStreets } from "./getstreets";

const path = "/v1/settings";
const standard = "#0b62ba";

interface Props {
  brief?: boolean;
  onNext?: () => void; // of a step: what is saved leads on
  children?: ComponentChildren; // above the button
}

/** The form, once it is known what is set. */
export function NetworkIdentity(props: Props) {
  const { answer, error } = useAsk<NetworkSettings>(path);
  return (
    <>
      <ErrorNote error={error} />
      {answer && <Form is={answer.data} {...props} />}
    </>
  );
}

const shown = ["name", "description", "contact", "color", "logo", "language", "license", "attribution", "show_clients", "timezone"];

function Form({ is, brief = false, onNext, children }: Props & { is: NetworkSettings }) {
  const [texts, setTexts] = useState({
    name: is.name ?? "",
    description: is.description ?? "",
    contact: is.contact ?? "",
    language: is.language ?? "",
    license: is.license ?? "",
    attribution: is.attribution ?? "",
    timezone: is.timezone ?? "",
  });
  const [colour, setColour] = useState(is.color ?? "");
  const [clients, setClients] = useState(is.show_clients);
  const [logo, setLogo] = useState<string | null>(); // undefined: as it is
  const [has, setHas] = useState(is.logo_type !== null);
  const [changed, setChanged] = useState(false);
  const [saved, setSaved] = useState(false);
  const { busy, error, submit, run } = useDoing();
  const faults = useFaults(error);
  const form = useFirstFault(error);
  useEffect(() => {
    askBeforeLeaving(changed ? t.settings.leave : "");
    return () => askBeforeLeaving("");
  }, [changed]);
  const touch = (field: string): void => {
    faults.touch(field);
    setSaved(false);
    setChanged(true);
  };
  const send = submit(async () => {
    if (onNext && !changed) return onNext();
    const orNull = (text: string): string | null => text.trim() || null;
    const body = {
      name: orNull(texts.name),
      description: orNull(texts.description),
      contact: orNull(texts.contact),
      color: orNull(colour),
      ...(brief ? {} : { language: orNull(texts.language), license: orNull(texts.license), attribution: orNull(texts.attribution), timezone: orNull(texts.timezone), show_clients: clients }),
      ...(logo === undefined ? {} : { logo }),
    };
    const { data } = await ask<NetworkSettings>(path, { method: "PATCH", body });
    setHas(data.logo_type !== null);
    setLogo(undefined);
    setChanged(false);
    setSaved(true);
    presented(data);
    askBeforeLeaving("");
    onNext?.();
  });
  const field = (name: keyof typeof texts, label: string, hint: string, most: number) => (
    <Field
      label={label}
      name={`network-${name}`}
      value={texts[name]}
      maxLength={most}
      autoComplete="off"
      onInput={(event) => {
        touch(name);
        setTexts({ ...texts, [name]: event.currentTarget.value });
      }}
      hint={hint}
      fault={faults.at(name)}
    />
  );
  const pick = (event: { currentTarget: HTMLInputElement }): void => {
    const file = event.currentTarget.files?.[0];
    if (file)
      run(async () => {
        const made = await logoFrom(file);
        touch("logo");
        setLogo(made);
      });
  };
  return (
    <form class="card" id="identity" ref={form} onSubmit={send} noValidate>
      <h2>{brief ? t.identity.first : t.identity.title}</h2>
      <p>{t.identity.about}</p>
      {field("name", t.words.name, t.identity.nameHint, 60)}
      {field("description", t.identity.description, t.identity.descriptionHint, 200)}
      {field("contact", t.identity.contact, t.identity.contactHint, 200)}
      <Colour
        value={colour}
        onChange={(next) => {
          touch("color");
          setColour(next);
        }}
        fault={faults.at("color")}
      />
      <Field label={t.identity.logo} name="network-logo" type="file" accept="image/*" onChange={pick} hint={t.identity.logoHint} fault={faults.at("logo")} />
      <Preview logo={logo === undefined ? has : logo} name={texts.name} colour={isColour(colour) ? colour : standard} />
      {(logo || (logo === undefined && has)) && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            touch("logo");
            setLogo(null);
          }}
        >
          {t.identity.noLogo}
        </button>
      )}
      {!brief && field("language", t.identity.language, t.identity.languageHint, 3)}
      {!brief && (
        <ZoneField
          name="network-timezone"
          value={texts.timezone}
          onZone={(timezone) => {
            touch("timezone");
            setTexts({ ...texts, timezone });
          }}
          hint={t.identity.zoneHint}
          fault={faults.at("timezone")}
        />
      )}
      {!brief && field("license", t.identity.license, t.identity.licenseHint, 200)}
      {!brief && field("attribution", t.identity.attribution, t.identity.attributionHint, 200)}
      {!brief && (
        <Check
          label={t.identity.clients}
          name="network-clients"
          checked={clients}
          onChange={(next) => {
            touch("show_clients");
            setClients(next);
          }}
        />
      )}
      {children}
      <ErrorNote error={error} at={shown} />
      <div class="line">
        <button type="submit" class="button" disabled={busy}>
          {busy ? t.settings.saving : onNext ? t.setUp.next : t.words.save}
        </button>
        <span role="status">{saved && !onNext ? t.identity.saved : changed ? t.settings.unsaved : ""}</span>
      </div>
    </form>
  );
}

function Colour({ value, onChange, fault }: { value: string; onChange: (colour: string) => void; fault: string }) {
  const now = isColour(value) ? value.toLowerCase() : standard;
  const { light, dark } = shadesOf(now);
  const remark = light === now && dark === now ? t.identity.asItIs : t.identity.shaded(light !== now, dark !== now);
  return (
    <>
      <div class="line colour">
        <input type="color" aria-label={t.identity.pick} name="network-pick" value={now} onInput={(event) => onChange(event.currentTarget.value)} />
        <Field
          label={t.identity.colour}
          name="network-color"
          value={value}
          placeholder={standard}
          maxLength={7}
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
          fault={fault}
        />
      </div>
      <p class="small" role="status">
        {value && !isColour(value) ? t.identity.form : remark}
      </p>
    </>
  );
}

/** How the bar and a button look, in the light and in the dark. */
function Preview({ logo, name, colour }: { logo: string | boolean | null; name: string; colour: string }) {
  const { light, dark, on } = shadesOf(colour);
  const { version } = useCell(network);
  const source = typeof logo === "string" ? logo : `/logo?${version}`;
  const sample = (ground: string, text: string, accent: string, onAccent: string) => (
    <div class="sample" style={{ background: ground, color: text }}>
      {logo ? <img src={source} alt="" width="32" height="32" /> : <span class="mark" style={{ background: colour, color: on }} />}
      <strong>{name.trim() || network.value.name}</strong>
      <span class="pill" style={{ background: accent, color: onAccent }}>
        {t.app.signIn}
      </span>
    </div>
  );
  return (
    <div class="samples" role="img" aria-label={t.identity.preview}>
      {sample("#ffffff", "#18212e", light, "#ffffff")}
      {sample("#171f29", "#e5eaf1", dark, "#0a1725")}
    </div>
  );
}

/** What a server is told when it starts, so that no page can change it. */
export function StartFacts() {
  const streets = basemapText() ? (JSON.parse(basemapText()) as { file?: string; style?: string }) : {};
  return (
    <section class="card" id="start-facts">
      <h2>{t.identity.started}</h2>
      <Facts
        of={[
          [t.identity.who, isPublic() ? t.identity.everyone : t.identity.keysAlone],
          [t.identity.streets, streets.style ?? (streets.file ? t.identity.fromFile : t.identity.noStreets)],
        ]}
      />
      <p>
        {t.identity.change(
          <code>beacon serve --public --basemap FILE</code>,
          <a href="/docs/run-single-node">{t.identity.guide}</a>,
        )}
      </p>
      {!basemapText() && <GetStreets />}
    </section>
  );
}
