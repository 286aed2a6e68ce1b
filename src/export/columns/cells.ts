import type { ReportType } from "../../connector/report-view.ts";
import { decimalText } from "../../json/literal.ts";

/**
 * The bytes in which rows leave SQLite: one BLOB for many rows. `cellEnd` stands between cells, `nullCell` is
 * NULL. No UTF-8 text contains either byte, so nothing is escaped and the formats work on bytes. Reading value
 * by value costs more than all other work of an export (a million rows of 40 columns: bytes take half the
 * time of the sqlite3 shell's CSV, JavaScript values took a third more than it).
 */
export const cellEnd = 0xff;
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

/** The row that a query of `cellsSql` gives. */
export type CellsRow = readonly [rows: number, cells: Uint8Array | null];

/**
 * A query for all cells of all rows of `from`: their number and one BLOB, NULL where there are no rows.
 *
 * @param order SQL of what the rows are sorted by, a quarter more work; null: as they are stored
 */
export function cellsSql(expressions: readonly string[], from: string, order: string | null = null): string {
  const end = "CAST(x'ff' AS TEXT)";
  const cells = expressions.map((sql) => `ifnull(${sql},CAST(x'fe' AS TEXT))`);
  const all = `concat_ws(${end},${cells.join(",")}),${end}${order === null ? "" : ` ORDER BY ${order}`}`;
  return `SELECT count(*), CAST(group_concat(${all}) AS BLOB) FROM ${from}`;
}

/** Smaller buffers may be slices of Node's shared pool. */
const pooledBytes = 65_536;

/**
 * Frees the memory of `bytes` at once, and of every array on the same buffer. The garbage collector goes by
 * the number of objects and would let each thread hold 64 MB of finished bytes. Small buffers are left alone.
 */
export function freeBytes({ buffer }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > pooledBytes) buffer.transfer(0);
}

/**
 * Real numbers as text. SQLite writes a REAL so that it reads back the same: `100.0` for a whole number, an
 * exponent for very large and very small ones, 17 digits where 16 would do. The service sends the shortest
 * text. So `.0` is cut off, and the rare long ones or those with an exponent are parsed and printed again by
 * JavaScript, which prints the shortest text.
 */
const maxPlainLength = 16;

/** The text of a REAL that must be printed again; null if its bytes are right, up to `endOfReal`. */
export function reprintedReal(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start <= maxPlainLength && !hasExponent(bytes, start, end)) return null;
  const text = asciiText(bytes, start, end);
  // An integer among the numbers of an unknown field has all of its digits.
  return /^-?\d+$/.test(text) ? null : decimalText(Number(text));
}

/** The end of a REAL without the `.0` of a whole number. */
export function endOfReal(bytes: Uint8Array, end: number): number {
  return bytes[end - 1] === 0x30 && bytes[end - 2] === 0x2e ? end - 2 : end;
}

function hasExponent(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === 0x65) return true;
  return false;
}

/** ASCII bytes as text; faster than a decoder for a few bytes. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] ?? 0);
  return text;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function cellText(cells: Uint8Array, from: number, end: number): string {
  return decoder.decode(cells.subarray(from, end));
}

/** A REAL's cell as the service writes the number. */
export function realText(bytes: Uint8Array, start: number, end: number): string {
  return reprintedReal(bytes, start, end) ?? asciiText(bytes, start, endOfReal(bytes, end));
}
