import { isPreview } from "../head";
import { useSightInAddress } from "../parts/sight";
import { session } from "../session";
import { useCell } from "../state";
import { NetworkMap } from "./networkmap";
import { PreviewMap } from "./previewmap";
import { PublicMap } from "./publicmap";

/** The network for those who have a key, and for everyone else what is public of it; or the preview. */
export function MapPage() {
  useSightInAddress();
  const who = useCell(session.who);
  if (isPreview()) return <PreviewMap />;
  return who ? <NetworkMap /> : <PublicMap />;
}
