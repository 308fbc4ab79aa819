// Which part of a list is asked for.
export interface Wanted {
  page: number;
  text: string; // that names are searched for; empty for all
  filter?: Record<string, string>;
  name?: string; // of the parameter that has the text
}

const perPage = 20;

/** The address of a page of a list. */
export function pageOf(list: string, { page, text, filter = {}, name = "q" }: Wanted): string {
  const query = new URLSearchParams({ ...filter, per_page: String(perPage), page: String(page) });
  if (text.trim()) query.set(name, text.trim());
  return `${list}?${query.toString()}`;
}

/** The page to go to when the one that is shown is no longer there; null while it is. */
export function pageLeft(page: number, pages: number): number | null {
  return page > Math.max(pages, 1) ? Math.max(pages, 1) : null;
}
