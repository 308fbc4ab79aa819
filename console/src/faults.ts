// The faults that the server found, as whoever looks at a form would count them.
import type { ApiError, Fault } from "./api";
import { t } from "./messages";

/** A place is one thing on a map, though it has two numbers: what is said of both is said once. */
function counted(faults: Fault[]): Fault[] {
  const ofLat = faults.find(({ field }) => field === "location.lat")?.message;
  return faults.filter(({ field, message }) => field !== "location.lng" || message !== ofLat);
}

/** What the server said about a field. It speaks English; what people often meet is told in their language. */
export function inWords(message: string, texts = t.errors.byText): string {
  const known = texts.find(([pattern]) => pattern.test(message));
  return known ? message.replace(...known) : message;
}

/** What went wrong, in a sentence. */
export function sentence({ code, faults, message }: ApiError): string {
  const left = counted(faults);
  if (left.length === faults.length) return t.errors.byCode[code] ?? inWords(message);
  return left.length === 1 ? t.errors.location(inWords(left[0]?.message ?? "")) : t.errors.fields(left.length);
}
