// The terms of a policy as they are typed; and what came of one that is tried on the past.
import { toCSV } from "./csv";
import type { PolicyTerms, Replay, ReplayForm } from "./types";

/** What is typed: the amounts of a policy by the names that a policy file has for them. */
export type Terms = Record<(typeof termNames)[number], string>;

/** Those that every policy has. */
export const ofAll = ["availability", "performance.standard", "performance.enhanced", "performance.premium", "utilization_per_gb", "utilization_cap"] as const;
/** Those that only a policy has that pays places. */
export const ofPlaces = ["radius_m", "unproven_share", "standing_minutes_a_day"] as const;
export const termNames = [...ofAll, ...ofPlaces];

/** A policy as the server returns it, or as a file has it: amounts are numbers or texts. */
type Source = { [name in keyof PolicyTerms]?: unknown };

export function termsOf(policy: Source): Terms {
  const { performance, ...rest } = policy;
  const values: Record<string, unknown> = { ...rest };
  for (const [tier, rate] of Object.entries(performance ?? {})) values[`performance.${tier}`] = rate;
  return Object.fromEntries(termNames.map((name) => [name, values[name] === undefined ? "" : String(values[name])])) as Terms;
}

/** The last policy of a policy file, or a policy alone; null for any other text. */
export function termsInFile(text: string): Terms | null {
  try {
    const file = JSON.parse(text) as { policies?: Source[] } | null;
    const policy = file?.policies ? file.policies.at(-1) : (file as Source | null);
    return policy && "availability" in policy ? termsOf(policy) : null;
  } catch {
    return null;
  }
}

/** What the server is asked; without terms, whether the ledger is what the policies in force give. */
export function formOf(from: string, to: string, terms: Terms | null): ReplayForm {
  if (!terms) return { from, to };
  return { from, to, policy: policyOf(terms, terms.radius_m.trim() !== "" || terms.unproven_share.trim() !== "") };
}

/** A policy with the terms that are typed. */
export function policyOf(terms: Terms, paysPlaces: boolean): NonNullable<ReplayForm["policy"]> {
  const text = (name: keyof Terms): string => terms[name].trim();
  return {
    availability: text("availability"),
    performance: { standard: text("performance.standard"), enhanced: text("performance.enhanced"), premium: text("performance.premium") },
    utilization_per_gb: text("utilization_per_gb"),
    utilization_cap: text("utilization_cap"),
    ...(paysPlaces ? { radius_m: Number(text("radius_m")), unproven_share: text("unproven_share") } : {}),
    ...(paysPlaces && text("standing_minutes_a_day") !== "" ? { standing_minutes_a_day: Number(text("standing_minutes_a_day")) } : {}),
  };
}

/** How many days a part of the response has: each begins with its date. */
export const daysIn = (part: string): number => part.split('{"date":').length - 1;

/** A difference of two amounts, without the noise of floating point. */
export const change = ({ earned, replayed }: { earned: number; replayed: number }): number => Math.round((replayed - earned) * 1e6) / 1e6;

type Operator = Replay["operators"][number];

/** Who gains most, and who loses most. */
export function extremes(operators: Operator[], most: number): { gain: Operator[]; lose: Operator[] } {
  const sorted = [...operators].sort((a, b) => change(b) - change(a));
  return {
    gain: sorted.filter((o) => change(o) > 0).slice(0, most),
    lose: sorted.filter((o) => change(o) < 0).slice(-most).reverse(),
  };
}

/** Every operator, in the columns of the command line's file. */
export function replayCSV({ operators }: Replay): string {
  const parts = ["availability", "performance", "utilization"] as const;
  return toCSV(
    ["user_id", "hotspots", ...parts, "paid", ...parts.map((part) => `replayed_${part}`), "replayed", "change"],
    operators.map((o) => [
      ...[o.user_id, o.hotspots, ...parts.map((part) => o.breakdown[part]), o.earned],
      ...[...parts.map((part) => o.replayed_breakdown[part]), o.replayed, change(o)],
    ]),
  );
}
