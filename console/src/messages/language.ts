// Which language the console speaks, and how numbers and times are written in it.
import { keep, kept } from "../storage";

export type Language = "en" | "es";

/** The languages that there are, as those who speak them call them. */
export const languages: Record<Language, string> = { en: "English", es: "Español" };

const isLanguage = (text: unknown): text is Language => typeof text === "string" && Object.hasOwn(languages, text);

/** What was chosen on this device, else the first language of the browser that there is, else the network's. */
export function choose(chosen: string | null, asked: readonly string[], network: string | null): Language {
  const wanted = [chosen, ...asked.map((tag) => tag.split("-")[0]?.toLowerCase()), network];
  return wanted.find(isLanguage) ?? "en";
}

/** How the browser's user writes a language, such as es-MX; the language alone if the browser does not ask for it. */
export function localeOf(language: Language, asked: readonly string[]): string {
  return asked.find((tag) => tag.split("-")[0]?.toLowerCase() === language) ?? language;
}

const place = "beacon-language";
const networkPlace = "beacon-network-language"; // the setting, as it was last heard of

const asked = (): readonly string[] => globalThis.navigator?.languages ?? [];
const wanted = (): Language => choose(kept(place), asked(), kept(networkPlace));

export const language = wanted();
export const locale = localeOf(language, asked());

/** Speaks another language from now on. Texts are chosen when the page is loaded, so it is loaded again. */
export function speak(next: Language): void {
  change(place, next);
}

/** Takes over the network's setting, for browsers that ask for no language that there is. */
export function heardNetwork(setting: string | null): void {
  if (setting !== kept(networkPlace)) change(networkPlace, setting);
}

// What cannot be kept would be forgotten at once.
function change(name: string, value: string | null): void {
  if (keep(name, value) && wanted() !== language) location.reload();
}
