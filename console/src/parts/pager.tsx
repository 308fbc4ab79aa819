import { t } from "../messages";
import type { Pagination } from "../types";

export function Pager({ pagination, onPage }: { pagination: Pagination | undefined; onPage: (page: number) => void }) {
  if (!pagination || pagination.total_pages < 2) return null;
  const { page, total_pages: pages } = pagination;
  return (
    <nav class="pager" aria-label={t.pager.label}>
      <button type="button" class="quiet" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        {t.pager.previous}
      </button>
      <span>{t.pager.at(page, pages)}</span>
      <button type="button" class="quiet" disabled={page >= pages} onClick={() => onPage(page + 1)}>
        {t.pager.next}
      </button>
    </nav>
  );
}
