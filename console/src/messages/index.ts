// The texts of the console, in the language of whoever looks. English is part of the
// first load; others are fetched when they are wanted.
import { en } from "./en";
import { language } from "./language";

/** A message for each text, in a group for each page. A language that lacks one, or has another, does not compile. */
export type Messages = typeof en;

export const t: Messages = language === "es" ? await import("./es").then(({ es }) => es, () => en) : en;
