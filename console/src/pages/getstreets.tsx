// How a server without streets gets those around its hotspots: two commands to copy.
import { useState } from "preact/hooks";
import { boxAroundAll } from "../geo";
import { basemapText, isDemo, isPublic } from "../head";
import { t } from "../messages";
import { useAsk } from "../parts/use";
import { session } from "../session";
import { demoStreets, streetCommands } from "../streetbox";
import type { Coverage } from "../types";

/** All hotspots there are, in as many clusters as an answer holds. */
const everywhere = "/v1/coverage?north=85&south=-85&east=180&west=-180";

/** On a map without streets: how whoever may draw some gets them. */
export function NoStreets() {
  if (basemapText()) return null;
  if (isDemo()) return <p class="small">{t.map.demoStreets(<code>{demoStreets()}</code>, <code class="whole">--basemap</code>)}</p>;
  return session.may("settings") ? <p class="small">{t.map.noStreets((text) => <a href="#/staff/settings">{text}</a>)}</p> : null;
}

export function GetStreets() {
  const { answer } = useAsk<Coverage>(everywhere);
  const [copied, setCopied] = useState(false);
  const commands = answer && streetCommands(boxAroundAll(answer.data.hotspots), isPublic());
  if (!commands) return null;
  return (
    <>
      <p>{t.identity.getStreets}</p>
      <pre class="command" tabIndex={0}>
        <code>{commands}</code>
      </pre>
      <p class="hint">{t.identity.otherFlags}</p>
      {"clipboard" in navigator && (
        <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(commands).then(() => setCopied(true))}>
          {copied ? t.linking.copied : t.linking.copy}
        </button>
      )}
    </>
  );
}
