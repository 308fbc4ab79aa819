// What time it is for the server, by whose clock days begin and months end. The
// browser's may be wrong, and a demonstration may pretend to be at another time.

let ahead = 0; // milliseconds that the server is before the browser

/** Takes over the time that stands in an answer. */
export function heard(timestamp: string | undefined): void {
  const told = Date.parse(timestamp ?? "");
  if (!Number.isNaN(told)) ahead = told - Date.now();
}

export const now = (): number => Date.now() + ahead;

/** The day that it is, as the server writes it. */
export const today = (): string => new Date(now()).toISOString().slice(0, 10);
