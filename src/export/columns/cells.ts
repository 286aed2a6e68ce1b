import type { ReportType } from "../../connector/report-view.ts";

/**
 * The bytes in which rows leave SQLite: one BLOB for many rows. `cellEnd` stands between cells, `nullCell` is
 * NULL. No UTF-8 text contains either byte, so nothing is escaped and the formats work on bytes. Reading value
 * by value costs more than all other work of an export (a million rows of 40 columns: bytes take half the
 * time of the sqlite3 shell's CSV, JavaScript values took a third more than it).
 */
export const cellEnd = 0xff;
/** The one byte of a cell that is NULL. */
export const nullCell = 0xfe;

/** What the bytes of a cell are: UTF-8 text, or a number as SQLite writes it; a boolean is `0` or `1`. */
export type CellKind = "text" | "integer" | "real" | "boolean";

export interface CellColumn {
  readonly name: string;
  readonly type: ReportType;
}

/** The kind of a type's cells. Dates and times are text; SQLite stores a DECIMAL as REAL. */
export function kindOf(type: ReportType): CellKind {
  if (type === "INTEGER") return "integer";
  if (type === "BOOLEAN") return "boolean";
  return type === "TEXT" || type === "DATE" || type === "TIMESTAMP" ? "text" : "real";
}

/** Where the cell that begins at `from` ends: the index of its `cellEnd`, or the length of `cells`. */
export function endOfCell(cells: Uint8Array, from: number): number {
  const end = cells.indexOf(cellEnd, from);
  return end === -1 ? cells.length : end;
}

/** SQLite's limit on a function's arguments is at least this in every build. */
const maxArguments = 100;

/** The row that a query of `cellsSql` gives. */
export type CellsRow = readonly [rows: number, cells: Uint8Array | null];

/** A query for all cells of all rows of `from`: their number and one BLOB, NULL where there are no rows. */
export function cellsSql(expressions: readonly string[], from: string): string {
  const end = "CAST(x'ff' AS TEXT)";
  const cells = expressions.map((sql) => `ifnull(${sql},CAST(x'fe' AS TEXT))`);
  const groups: string[] = [];
  for (let at = 0; at < cells.length; at += maxArguments)
    groups.push(`concat_ws(${end},${cells.slice(at, at + maxArguments).join(",")})`);
  return `SELECT count(*), CAST(group_concat(${groups.join(`||${end}||`)},${end}) AS BLOB) FROM ${from}`;
}

/** Smaller buffers may be slices of Node's shared pool. */
const pooledBytes = 65_536;

/**
 * Frees the memory of `bytes` at once, and of every array on the same buffer. The garbage collector goes by
 * the number of objects and would let each thread hold 64 MB of finished bytes. Small buffers are left alone.
 */
export function freeBytes({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > pooledBytes) buffer.transfer(0);
}
