// A range's uptime in words. The server's figure for 30 days counts minutes; its
// points are shares of spans of which some have fewer open minutes than others,
// so that their average would be another number than the uptime.
import * as format from "./format";
import { t } from "./messages";
import type { HistoryPoint } from "./types";

export interface Spans {
  name: string; // of the range
  each: string; // what one point stands for, in the plural
  figure?: number | undefined; // the server's own, where it has one for this range
}

export function uptimeInWords(points: HistoryPoint[], { name, each, figure }: Spans): string {
  const expected = points.filter(({ uptime }) => uptime !== null);
  if (expected.length === 0) return t.uptime.noData;
  if (figure !== undefined) return t.uptime.inRange(format.percent(figure), name);
  const whole = expected.filter(({ uptime }) => uptime === 1).length;
  return t.uptime.noGaps(format.count(whole), format.count(expected.length), each);
}
