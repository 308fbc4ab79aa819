// What an operator earned by day, beside the month before.
import { useMemo } from "preact/hooks";
import { monthBefore } from "../chart";
import { now } from "../clock";
import * as format from "../format";
import { t } from "../messages";
import { Chart } from "../parts/chart";
import { ErrorNote } from "../parts/note";
import { useAsk } from "../parts/use";
import type { RewardsDays } from "../types";

export function Earnings({ month = "", version = 0 }: { month?: string; version?: unknown }) {
  const period = month || new Date(now()).toISOString().slice(0, 7);
  const past = monthBefore(period);
  const current = useAsk<RewardsDays>(`/v1/users/me/rewards/days?month=${period}`, version);
  const before = useAsk<RewardsDays>(`/v1/users/me/rewards/days?month=${past}`);
  const days = current.answer?.data.days;
  const daysBefore = before.answer?.data.days;
  const drawn = useMemo(() => {
    if (!days) return { at: [], values: [], earlier: [] };
    const count = Math.max(new Date(Date.UTC(Number(period.slice(0, 4)), Number(period.slice(5)), 0)).getUTCDate(), daysBefore?.length ?? 0);
    const at = Array.from({ length: count }, (_, i) => i + 1);
    return { at, values: at.map((_, i) => days[i]?.total_earned ?? null), earlier: at.map((_, i) => daysBefore?.[i]?.total_earned ?? null) };
  }, [days, daysBefore]);
  if (current.error && !days) return <ErrorNote error={current.error} />;
  const sum = (list: RewardsDays["days"]): number => list.reduce((all, day) => all + day.total_earned, 0);
  const n = days?.length ?? 0;
  const told = (list: RewardsDays["days"]): string => {
    const earned = format.credits(sum(list));
    if (!daysBefore) return t.words.credits(earned);
    const before = format.credits(sum(daysBefore.slice(0, n)));
    return n < daysBefore.length ? t.earnings.compared(earned, before, n, format.month(past)) : t.earnings.comparedMonth(earned, before, format.month(past));
  };
  const date = (of: string, i: number): string => format.day(`${of}-${String(i + 1).padStart(2, "0")}`);
  return (
    <Chart
      title={t.earnings.title(format.month(period))}
      summary={days ? told(days) : t.words.wait}
      at={drawn.at}
      values={drawn.values}
      before={drawn.earlier}
      name={(i) => date(period, i)}
      beforeName={(i) => date(past, i)}
      write={format.short}
      read={(value) => t.words.credits(format.exact(value))}
      colour="--accent"
      bars
      unfinished={days?.[n - 1]?.open ?? false}
    />
  );
}
