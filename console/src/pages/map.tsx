import { session } from "../session";
import { useCell } from "../state";
import { NetworkMap } from "./networkmap";
import { PreviewMap } from "./previewmap";

/** The network for those who have a key, the preview for everyone else. */
export function MapPage() {
  return useCell(session.who) ? <NetworkMap /> : <PreviewMap />;
}
