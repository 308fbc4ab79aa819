// The faults that the server found, as whoever looks at a form would count them.
import type { ApiError, Fault } from "./api";

/** A place is one thing on a map, though it has two numbers: what is said of both is said once. */
function counted(faults: Fault[]): Fault[] {
  const ofLat = faults.find(({ field }) => field === "location.lat")?.message;
  return faults.filter(({ field, message }) => field !== "location.lng" || message !== ofLat);
}

/** What went wrong, in a sentence. */
export function sentence({ faults, message }: ApiError): string {
  const left = counted(faults);
  if (left.length === faults.length) return message;
  return left.length === 1 ? `The location ${left[0]?.message ?? ""}` : `${left.length} fields are not valid`;
}
