// How much of the view is covered.
import { useEffect, useState } from "preact/hooks";
import * as format from "../format";
import { changes } from "../live";
import { t } from "../messages";
import { Tiles } from "../parts/facts";
import { mapView } from "../parts/maphost";
import { ErrorNote } from "../parts/note";
import { useAsk, useCalm } from "../parts/use";
import { useCell } from "../state";
import type { Coverage } from "../types";

const settle = 250; // milliseconds without a move before the server is asked

export function CoverageFigures() {
  const view = useCell(mapView);
  const version = useCell(changes);
  const [path, setPath] = useState<string | null>(null);
  useEffect(() => {
    if (!view) return;
    const moved = (): void => {
      const { north, south, east, west } = view.bounds();
      setPath(`/v1/coverage?north=${north}&south=${south}&east=${east}&west=${west}&zoom=${view.zoom().toFixed(2)}`);
    };
    moved();
    return view.sight.watch(moved);
  }, [view]);
  const { answer, error } = useAsk<Coverage>(useCalm(path, settle), version);
  const data = answer?.data;
  return (
    <>
      <Tiles
        class="figures"
        label={t.figures.label}
        of={[
          [t.figures.hotspots, data ? format.count(data.hotspot_count) : "–"],
          [t.figures.covered, data ? format.area(data.coverage_area_km2) : "–"],
          [t.figures.share, data ? format.percent(data.coverage_percentage) : "–"],
        ]}
      />
      <ErrorNote error={error} />
    </>
  );
}
