import "maplibre-gl/dist/maplibre-gl.css";
import "uplot/dist/uPlot.min.css";
import "./styles/console.css";
import { render } from "preact";
import { ApiError, ask } from "./api";
import { App } from "./app";
import { followSession } from "./live";
import { t } from "./messages";
import { language } from "./messages/language";
import { session } from "./session";
import { followTheme } from "./theme";
import type { Key } from "./types";

followSession();
followTheme();
document.documentElement.lang = language;

const patience = 3_000; // milliseconds between two tries to reach the server

/** Takes up the session of this tab, if there was one. */
async function resume(): Promise<void> {
  const key = session.remembered();
  if (!key && !session.stays) {
    session.end();
    return;
  }
  for (;;) {
    try {
      const { data } = await ask<Key>("/v1/keys/self", { key });
      if (key) session.begin(key, data);
      else session.stay(data);
      return;
    } catch (error) {
      // A server that is away says nothing about the key.
      const away = error instanceof ApiError && (error.status === 0 || error.status >= 500);
      if (!away) {
        session.end(t.errors.noLongerValid);
        return;
      }
      session.notice.value = error.message;
      await new Promise((resolve) => setTimeout(resolve, patience));
    }
  }
}

void resume();
const root = document.getElementById("app");
if (root) render(<App />, root);
