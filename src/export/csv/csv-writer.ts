import { cellEnd, kindOf, nullCell, type CellColumn } from "../columns/cells.ts";
import { plainEnd, rewrittenReal } from "../columns/number-cell.ts";

export const dialects = ["standard", "excel-sk"] as const;
/** `standard`: comma, point, RFC 4180. `excel-sk`: what a Slovak Excel opens by a double click. */
export type Dialect = (typeof dialects)[number];

const comma = 0x2c;
const semicolon = 0x3b;
const quote = 0x22;
const apostrophe = 0x27;
const point = 0x2e;

/** What stands before the rows: for Excel a mark that it is UTF-8, then the columns' names. */
export function csvHead(columns: readonly string[], dialect: Dialect): Uint8Array {
  const separator = dialect === "standard" ? "," : ";";
  const names = columns.map((name) => (/[",;\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name));
  return new TextEncoder().encode(`${dialect === "standard" ? "" : "\ufeff"}${names.join(separator)}\r\n`);
}

/** A text that begins with one of these is run by some spreadsheet; the last four are their full-width twins. */
const dangerous = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];
const dangerousTwins = new Set(dangerous.slice(7).map((sign) => Buffer.from(sign).readUIntBE(0, 3)));

/** By byte: 1 must be quoted; 2 is dangerous at a text's beginning; 4 may begin a full-width twin. */
function classesOf(separator: number): Uint8Array {
  const classes = new Uint8Array(256);
  for (const byte of [quote, separator, 0x0d, 0x0a]) classes[byte] = 1;
  for (const sign of dangerous.slice(0, 7)) {
    const byte = sign.charCodeAt(0);
    classes[byte] = (classes[byte] ?? 0) | 2;
  }
  classes[0xef] = 4;
  return classes;
}

/** An empty cell becomes two quotes and a separator, a boolean five letters; nothing else grows more. */
const mostGrowth = 6;
const trueText = Buffer.from("true");
const falseText = Buffer.from("false");
/**
 * Cells to CSV. Text that a spreadsheet would run gets one apostrophe before it; numbers, dates and booleans
 * are never touched, so they stay what they are. NULL is nothing between separators, an empty text is `""`.
 * Booleans are the service's `true` and `false`, dates ISO in both dialects: Excel reads them in any language.
 */
export class CsvWriter {
  readonly #kinds: readonly ("text" | "integer" | "real" | "boolean")[];
  readonly #separator: number;
  readonly #classes: Uint8Array;
  readonly #decimalComma: boolean;
  #out = new Uint8Array(0);
  #at = 0;
  rows = 0;

  constructor(columns: readonly CellColumn[], dialect: Dialect) {
    this.#kinds = columns.map(({ type }) => {
      const kind = kindOf(type);
      return kind === "date" || kind === "timestamp" ? "text" : kind;
    });
    this.#separator = dialect === "standard" ? comma : semicolon;
    this.#decimalComma = dialect === "excel-sk";
    this.#classes = classesOf(this.#separator);
  }

  /** The rows that `cells` holds; the bytes are the writer's own until the next call. */
  write(cells: Uint8Array): Uint8Array {
    this.#at = 0;
    this.#reserve(mostGrowth * (cells.length + 1));
    const columns = this.#kinds.length;
    let column = 0;
    for (let from = 0; from <= cells.length; column++) {
      if (column === columns) column = 0;
      from = this.#cell(cells, from, column);
      const last = column === columns - 1;
      this.#out[this.#at++] = last ? 0x0d : this.#separator;
      if (last) {
        this.#out[this.#at++] = 0x0a;
        this.rows++;
      }
    }
    return this.#out.subarray(0, this.#at);
  }

  /** Returns where the next cell begins. */
  #cell(cells: Uint8Array, from: number, column: number): number {
    if (cells[from] === nullCell) return from + 2;
    const kind = this.#kinds[column];
    if (kind === "text") return this.#text(cells, from);
    if (kind === "boolean") return this.#boolean(cells, from);
    const out = this.#out;
    let at = this.#at;
    let i = from;
    for (; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === cellEnd) break;
      out[at++] = byte;
    }
    if (kind === "real") this.#real(this.#at, at, cells.length - i);
    else this.#at = at;
    return i + 1;
  }

  /** A real stands from `start` to `end` as SQLite writes it; so many bytes of cells are still to come. */
  #real(start: number, end: number, left: number): void {
    const text = rewrittenReal(this.#out, start, end);
    this.#at = text === null ? plainEnd(this.#out, end) : start;
    if (text !== null) {
      this.#reserve(text.length + mostGrowth * (left + 1));
      for (let i = 0; i < text.length; i++) this.#out[this.#at++] = text.charCodeAt(i);
    }
    if (!this.#decimalComma) return;
    const where = this.#out.subarray(start, this.#at).indexOf(point);
    if (where !== -1) this.#out[start + where] = comma;
  }

  #reserve(more: number): void {
    if (this.#out.length - this.#at >= more) return;
    const larger = new Uint8Array(this.#at + 2 * more);
    larger.set(this.#out.subarray(0, this.#at));
    this.#out = larger;
  }

  #boolean(cells: Uint8Array, from: number): number {
    const text = cells[from] === 0x31 ? trueText : falseText;
    this.#out.set(text, this.#at);
    this.#at += text.length;
    return from + 2;
  }

  #text(cells: Uint8Array, from: number): number {
    const out = this.#out;
    const classes = this.#classes;
    const start = this.#at;
    let at = start;
    if (isDangerous(cells, from, classes)) out[at++] = apostrophe;
    let seen = 0;
    let i = from;
    for (; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === cellEnd) break;
      seen |= classes[byte] as number;
      out[at++] = byte;
    }
    this.#at = at;
    if (i === from || (seen & 1) === 1) this.#quote(cells, from, i, start);
    return i + 1;
  }

  /** The cell once more, in quotes. */
  #quote(cells: Uint8Array, from: number, end: number, start: number): void {
    const out = this.#out;
    let at = start;
    out[at++] = quote;
    if (isDangerous(cells, from, this.#classes)) out[at++] = apostrophe;
    for (let i = from; i < end; i++) {
      const byte = cells[i] as number;
      if (byte === quote) out[at++] = quote;
      out[at++] = byte;
    }
    out[at++] = quote;
    this.#at = at;
  }
}

function isDangerous(cells: Uint8Array, from: number, classes: Uint8Array): boolean {
  const found = classes[cells[from] ?? 0] as number;
  if ((found & 2) === 2) return true;
  if (found !== 4) return false;
  const sign = ((cells[from] as number) << 16) | ((cells[from + 1] ?? 0) << 8) | (cells[from + 2] ?? 0);
  return dangerousTwins.has(sign);
}
