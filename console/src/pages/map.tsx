import { useSightInAddress } from "../parts/sight";
import { session } from "../session";
import { useCell } from "../state";
import { NetworkMap } from "./networkmap";
import { PreviewMap } from "./previewmap";

/** The network for those who have a key, the preview for everyone else. */
export function MapPage() {
  useSightInAddress();
  return useCell(session.who) ? <NetworkMap /> : <PreviewMap />;
}
