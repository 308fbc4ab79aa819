// Tables as files for spreadsheets (RFC 4180).

export type CSVCell = string | number | boolean | null | undefined;

// At the start of a cell, these make a spreadsheet compute it instead of showing it.
const formulas = /^[=+\-@\t\r＝＋－＠]/;

/** Writes a table. Texts that a spreadsheet would take for a formula get an apostrophe, which marks them as text. */
export function toCSV(columns: string[], rows: CSVCell[][]): string {
  return [columns, ...rows].map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function cell(value: CSVCell): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = formulas.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== value ? `"${text.replaceAll('"', '""')}"` : text;
}
