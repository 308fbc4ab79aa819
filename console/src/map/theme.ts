// The colours of the map. The rest of the console has its own in CSS; a canvas
// cannot read those.
import { dark as isDark } from "../theme";

const light = {
  water: "#d8e4ec",
  land: "#f0efe9",
  nearLand: "#dde6ea", // when close: the outlines are too coarse to be looked at
  coast: "#c4ccd0",
  borough: "#fbfaf7",
  boroughLine: "#a9b2b8",
  label: "#5a6572",
  halo: "#fbfaf7",
  online: "#1b7f4d",
  offline: "#c23b31",
  pending: "#96650a",
  accent: "#0b62ba",
  gap: "#d9480f", // ground without coverage
  cluster: "#0b62ba", // where no status is known; white stands on it
  // Where there are streets:
  ground: "#f6f4ef",
  green: "#d9e8d2",
  building: "#e9e5de",
  highway: "#f3d9a4",
  major: "#fdf3d8",
  minor: "#ffffff",
  casing: "#d9d5cc", // the edges of roads
  path: "#c9bfae",
  rail: "#c3c0bb",
  greenLabel: "#3f6b3a",
  waterLabel: "#3c6587",
};

export type Theme = typeof light;

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
  ground: "#161d26",
  green: "#182a23",
  building: "#1f2833",
  highway: "#5b4c2c",
  major: "#3a4250",
  minor: "#2b3440",
  casing: "#0f151c",
  path: "#323c49",
  rail: "#38424f",
  greenLabel: "#8fbf95",
  waterLabel: "#7fa9cf",
};

export function theme(): Theme {
  return isDark.value ? dark : light;
}

/** Calls back when the colours become others, until the function that it returns is called. */
export function onThemeChange(changed: () => void): () => void {
  return isDark.watch(changed);
}
