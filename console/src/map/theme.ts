// The colours of the map. The rest of the console has its own in CSS; a canvas
// cannot read those.
import { dark as isDark } from "../theme";

export interface Theme {
  water: string;
  land: string;
  nearLand: string; // when close: the outlines are too coarse to be looked at
  coast: string;
  borough: string;
  boroughLine: string;
  label: string;
  halo: string;
  online: string;
  offline: string;
  pending: string;
  accent: string;
  gap: string; // ground without coverage
  cluster: string; // where no status is known; white stands on it
}

const light: Theme = {
  water: "#d8e4ec",
  land: "#f0efe9",
  nearLand: "#dde6ea",
  coast: "#c4ccd0",
  borough: "#fbfaf7",
  boroughLine: "#a9b2b8",
  label: "#5a6572",
  halo: "#fbfaf7",
  online: "#1b7f4d",
  offline: "#c23b31",
  pending: "#96650a",
  accent: "#0b62ba",
  gap: "#d9480f",
  cluster: "#0b62ba",
};

const dark: Theme = {
  water: "#0b1118",
  land: "#161d26",
  nearLand: "#0d141b",
  coast: "#2a3542",
  borough: "#1d2631",
  boroughLine: "#3c4a5a",
  label: "#9aa7b8",
  halo: "#161d26",
  online: "#1f8f58",
  offline: "#cf4a40",
  pending: "#a8730f",
  accent: "#6cb2ff",
  gap: "#ff8c42",
  cluster: "#2b6cb3",
};

export function theme(): Theme {
  return isDark.value ? dark : light;
}

export function onThemeChange(changed: () => void): void {
  isDark.watch(changed);
}
