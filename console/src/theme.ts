// Light, dark, or what the system prefers. The choice is kept on this device.
import { Cell, useCell } from "./state";

export type Theme = "system" | "light" | "dark";

const place = "beacon-theme";
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

export const isTheme = (text: unknown): text is Theme => text === "system" || text === "light" || text === "dark";

function kept(): Theme {
  try {
    const text = localStorage.getItem(place);
    return isTheme(text) ? text : "system";
  } catch {
    return "system"; // a browser that keeps nothing
  }
}

export const chosen = new Cell<Theme>(kept());
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
    try {
      if (theme === "system") localStorage.removeItem(place);
      else localStorage.setItem(place, theme);
    } catch {
      // then it holds for this page
    }
    apply();
  });
}

/** Whether it is dark, in a component that draws with colours. */
export const useTheme = (): boolean => useCell(dark);
