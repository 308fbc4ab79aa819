import "maplibre-gl/dist/maplibre-gl.css";
import "uplot/dist/uPlot.min.css";
import "./styles/console.css";
import { render } from "preact";
import { ApiError, ask } from "./api";
import { App } from "./app";
import { followSession } from "./live";
import { t } from "./messages";
import { language } from "./messages/language";
import { takeReturn } from "./oidc";
import type { Person } from "./people";
import { session } from "./session";
import { followTheme } from "./theme";
import type { Key } from "./types";

takeReturn();
followSession();
followTheme();
document.documentElement.lang = language;

const patience = 3_000; // milliseconds between two tries to reach the server

/** Takes up the session of this tab, or of this browser, if there was one. */
async function resume(): Promise<void> {
  const key = session.remembered();
  const whose = session.cookie;
  if (!key && whose === null) {
    session.end();
    return;
  }
  for (;;) {
    try {
      if (!key && whose?.startsWith("per_")) {
        session.enter((await ask<Person>("/v1/people/me", { key })).data);
        return;
      }
      const { data } = await ask<Key>("/v1/keys/self", { key });
      if (key) session.begin(key, data);
      else session.stay(data);
      return;
    } catch (error) {
      // A server that is away says nothing about the key.
      const away = error instanceof ApiError && (error.status === 0 || error.status >= 500);
      if (!away) {
        session.end(whose?.startsWith("per_") ? t.errors.sessionEnded : t.errors.noLongerValid);
        return;
      }
      session.notice.value = error.message;
      await new Promise((resolve) => setTimeout(resolve, patience));
    }
  }
}

// Tabs without a key of their own share a cookie: where one of them signs in or out, all do.
addEventListener("storage", ({ key, newValue }) => {
  if (key !== "beacon-stays" || session.key || newValue === (session.who.value?.id ?? null)) return;
  if (newValue === null) session.end(t.app.signedOut);
  else void resume();
});

void resume();
const root = document.getElementById("app");
if (root) render(<App />, root);
