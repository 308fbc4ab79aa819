// Light, dark, or what the system prefers. The choice is kept on this device.
import { Cell, useCell } from "./state";
import { keep, kept } from "./storage";

export type Theme = "system" | "light" | "dark";

const place = "beacon-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

const isTheme = (text: unknown): text is Theme => text === "system" || text === "light" || text === "dark";

const last = kept(place);
export const chosen = new Cell<Theme>(isTheme(last) ? last : "system");
/** Whether pages are dark. */
export const dark = new Cell(false);

function apply(): void {
  dark.value = chosen.value === "dark" || (chosen.value === "system" && prefersDark.matches);
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
}

/** Follows the choice and the system from now on. */
export function followTheme(): void {
  apply();
  prefersDark.addEventListener("change", apply);
  chosen.watch((theme) => {
    keep(place, theme === "system" ? null : theme);
    apply();
  });
}

/** Whether it is dark, in a component that draws with colours. */
export const useTheme = (): boolean => useCell(dark);
