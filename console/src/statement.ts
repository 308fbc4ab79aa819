// A statement for people: with names, and amounts in credits. The server's own files are
// for programs that check them.
import { toCSV } from "./csv";
import type { Statement } from "./types";

export function statementCSV({ rows, unit }: Statement, names: Map<string, string>): string {
  const columns = [
    ...["date", "hotspot_id", "hotspot", "served_minutes", "expected_minutes", "traffic_gb", "performance_tier"],
    ...["availability", "performance", "utilization", "total", "unit", "hold_id"],
  ];
  return toCSV(
    columns,
    rows.map((row) => [
      ...[row.date, row.hotspot_id, names.get(row.hotspot_id), row.served_minutes, row.expected_minutes, row.traffic_bytes / 1e9, row.performance_tier],
      ...[row.availability, row.performance, row.utilization],
      ...[Math.round((row.availability + row.performance + row.utilization) * 1e6) / 1e6, unit, row.hold_id],
    ]),
  );
}
