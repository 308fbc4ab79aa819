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

export interface CSVRecord {
  line: number; // on which it begins
  cells: string[];
  broken: boolean; // by a quote; the next record is on the next line
}

/** Reads the records of a table; empty lines are none. */
export function* readCSV(text: string, separator: string): Generator<CSVRecord> {
  const lines = text.replace(/\r\n|\r$/g, "\n").split("\n");
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] === "") continue;
    const record: CSVRecord = { line: at + 1, cells: [], broken: false };
    for (let rest: string | undefined = lines[at] ?? ""; rest !== undefined; ) {
      let value = "";
      let after: string = rest;
      if (rest.startsWith('"')) {
        for (after = rest.slice(1); ; ) {
          const quote: number = after.indexOf('"');
          if (quote < 0 && at + 1 < lines.length) {
            value += `${after}\n`; // it goes on in the next line
            after = lines[++at] ?? "";
            continue;
          }
          record.broken ||= quote < 0;
          value += after.slice(0, Math.max(quote, 0));
          after = after.slice(quote + 1);
          if (quote < 0 || !after.startsWith('"')) break;
          value += '"';
          after = after.slice(1);
        }
      } else {
        const end = rest.indexOf(separator);
        value = end < 0 ? rest : rest.slice(0, end);
        after = rest.slice(value.length);
        record.broken = value.includes('"');
      }
      record.broken ||= after !== "" && !after.startsWith(separator);
      record.cells.push(value);
      rest = record.broken || after === "" ? undefined : after.slice(1);
    }
    yield record;
  }
}

/** The most frequent separator of the first line. */
export function separatorOf(text: string): string {
  const [line = ""] = text.split("\n", 1);
  const count = (mark: string): number => line.split(mark).length;
  return [",", ";", "\t", "|"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

/** Removes the apostrophe that toCSV writes before what looks like a formula. */
export function unmark(value: string): string {
  return value.startsWith("'") && formulas.test(value.slice(1)) ? value.slice(1) : value;
}
