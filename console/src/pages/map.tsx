import { useSightInAddress } from "../parts/sight";
import { session } from "../session";
import { useCell } from "../state";
import { NetworkMap } from "./networkmap";
import { PreviewMap } from "./previewmap";
import { isPublic, PublicMap } from "./publicmap";

/** The network for those who have a key; for everyone else what is public of it, or the preview. */
export function MapPage() {
  useSightInAddress();
  if (useCell(session.who)) return <NetworkMap />;
  return isPublic() ? <PublicMap /> : <PreviewMap />;
}
