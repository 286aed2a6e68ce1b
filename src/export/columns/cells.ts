import type { ReportType } from "../../connector/report-view.ts";

/**
 * How rows come out of SQLite: not value by value, which costs more than everything else, but as one run of
 * bytes for many rows. Bytes that no UTF-8 text can hold stand between cells and for NULL, so nothing needs
 * escaping, and formats work on bytes. Measured on a million rows of 40 columns: half of what the sqlite3
 * shell takes for its CSV, where values turned into JavaScript's and back took a third more than it.
 */
export const cellEnd = 0xff;
export const nullCell = 0xfe;

/** What a cell's bytes are. Numbers are as SQLite writes them: see number-cell.ts. */
export type CellKind = "text" | "integer" | "real" | "boolean" | "date" | "timestamp";

export interface CellColumn {
  readonly name: string;
  readonly type: ReportType;
}

export function kindOf(type: ReportType): CellKind {
  switch (type) {
    case "INTEGER":
      return "integer";
    case "BOOLEAN":
      return "boolean";
    case "DATE":
      return "date";
    case "TIMESTAMP":
      return "timestamp";
    case "TEXT":
      return "text";
    case "REAL":
    default:
      return "real";
  }
}

/** A function of SQLite takes so many arguments in any build of it. */
const mostArguments = 100;

/** All cells of all rows of `from`, each ended by `cellEnd` but the last: one row, one BLOB; NULL for no rows. */
export function cellsSql(expressions: readonly string[], from: string): string {
  const end = "CAST(x'ff' AS TEXT)";
  const cells = expressions.map((sql) => `ifnull(${sql},CAST(x'fe' AS TEXT))`);
  const groups: string[] = [];
  for (let at = 0; at < cells.length; at += mostArguments)
    groups.push(`concat_ws(${end},${cells.slice(at, at + mostArguments).join(",")})`);
  return `SELECT CAST(group_concat(${groups.join(`||${end}||`)},${end}) AS BLOB) FROM ${from}`;
}
