import "maplibre-gl/dist/maplibre-gl.css";
import "uplot/dist/uPlot.min.css";
import "./styles/console.css";
import { render } from "preact";
import { ask } from "./api";
import { App } from "./app";
import { followSession } from "./live";
import { session } from "./session";
import type { Key } from "./types";

followSession();

/** Takes up the session of this tab, if there was one. */
async function resume(): Promise<void> {
  const key = session.remembered();
  if (!key) {
    session.end();
    return;
  }
  try {
    session.begin(key, (await ask<Key>("/v1/keys/self", { key })).data);
  } catch {
    session.end("You were signed out.");
  }
}

void resume();
const root = document.getElementById("app");
if (root) render(<App />, root);
