import type { ExportConfig } from "../../config/config.ts";
import { cellEnd, kindOf, nullCell, endOfReal, reprintedReal } from "../columns/cells.ts";
import type { CellColumn, CellKind } from "../columns/cells.ts";

export type Dialect = ExportConfig["dialect"];

const comma = 0x2c;
const semicolon = 0x3b;
const quote = 0x22;
const apostrophe = 0x27;
const point = 0x2e;
const zero = 0x30;
const carriageReturn = 0x0d;
const newline = 0x0a;

/** The first line: the columns' names; for Excel after a byte order mark, so that it reads UTF-8. */
export function csvHead(columns: readonly Pick<CellColumn, "name">[], dialect: Dialect): Uint8Array {
  const separator = dialect === "standard" ? "," : ";";
  const names = columns.map(({ name }) =>
    /[",;\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name,
  );
  return new TextEncoder().encode(`${dialect === "standard" ? "" : "\ufeff"}${names.join(separator)}\r\n`);
}

/** Some spreadsheet takes a text that begins with one of these for a formula. */
const formulaSigns = ["=", "+", "-", "@", "\t", "\r", "\n"];
/** The full-width forms of the first four, three bytes each in UTF-8. */
const wideFormulaSigns = new Set(["＝", "＋", "－", "＠"].map((sign) => Buffer.from(sign).readUIntBE(0, 3)));

const mustQuote = 1;
const beginsFormula = 2;
const mayBeginWideSign = 4;

/** For each byte the flags above. */
function classesOf(separator: number): Uint8Array {
  const classes = new Uint8Array(256);
  for (const byte of [quote, separator, carriageReturn, newline]) classes[byte] = mustQuote;
  for (const sign of formulaSigns) {
    const byte = sign.charCodeAt(0);
    classes[byte] = (classes[byte] ?? 0) | beginsFormula;
  }
  classes[0xef] = mayBeginWideSign;
  return classes;
}

/** Bytes of CSV per byte of cells at most: an empty cell becomes `"",`, a boolean `false,`, a whole number `1,00;`. */
const maxGrowth = 6;
const trueText = Buffer.from("true");
const falseText = Buffer.from("false");

/**
 * Turns cells into CSV. A text that a spreadsheet could take for a formula gets a leading apostrophe; numbers,
 * dates and booleans do not. Numbers with decimals have two at least in Excel's dialect. NULL is empty, an empty text is `""`. Booleans are `true` and `false` and dates
 * are ISO in both dialects, which Excel understands in any language.
 */
export class CsvWriter {
  readonly #kinds: readonly CellKind[];
  readonly #separator: number;
  readonly #classes: Uint8Array;
  readonly #forExcel: boolean;
  #out = new Uint8Array(0);
  #at = 0;

  constructor(columns: readonly CellColumn[], dialect: Dialect) {
    this.#kinds = columns.map(({ type }) => kindOf(type));
    this.#separator = dialect === "standard" ? comma : semicolon;
    this.#forExcel = dialect === "excel-sk";
    this.#classes = classesOf(this.#separator);
  }

  /** The rows of `cells` as CSV; the bytes are valid until the next call. */
  write(cells: Uint8Array): Uint8Array {
    this.#at = 0;
    this.#reserve(maxGrowth * (cells.length + 1));
    const columns = this.#kinds.length;
    let column = 0;
    for (let from = 0; from <= cells.length; column++) {
      if (column === columns) column = 0;
      from = this.#cell(cells, from, column);
      const last = column === columns - 1;
      this.#out[this.#at++] = last ? carriageReturn : this.#separator;
      if (last) this.#out[this.#at++] = newline;
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

  /** Corrects a REAL that was copied to `start`..`end`; `left` bytes of cells are still to come. */
  #real(start: number, end: number, left: number): void {
    const text = reprintedReal(this.#out, start, end);
    this.#at = text === null ? endOfReal(this.#out, end) : start;
    if (text !== null) {
      this.#reserve(text.length + maxGrowth * (left + 2));
      for (let i = 0; i < text.length; i++) this.#out[this.#at++] = text.charCodeAt(i);
    }
    if (this.#forExcel) this.#twoDecimals(start);
  }

  /** Gives the number from `start` on a decimal comma and at least two digits after it, as on a document. */
  #twoDecimals(start: number): void {
    const found = this.#out.subarray(start, this.#at).indexOf(point);
    const where = found === -1 ? this.#at : start + found;
    if (found === -1) this.#at++;
    this.#out[where] = comma;
    while (this.#at < where + 3) this.#out[this.#at++] = zero;
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
    if (isFormula(cells, from, classes)) out[at++] = apostrophe;
    let seen = 0;
    let i = from;
    for (; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === cellEnd) break;
      seen |= classes[byte] as number;
      out[at++] = byte;
    }
    this.#at = at;
    if (i === from || (seen & mustQuote) !== 0) this.#quote(cells, from, i, start);
    return i + 1;
  }

  /** Writes the cell again from `start` on, in quotes. */
  #quote(cells: Uint8Array, from: number, end: number, start: number): void {
    const out = this.#out;
    let at = start;
    out[at++] = quote;
    if (isFormula(cells, from, this.#classes)) out[at++] = apostrophe;
    for (let i = from; i < end; i++) {
      const byte = cells[i] as number;
      if (byte === quote) out[at++] = quote;
      out[at++] = byte;
    }
    out[at++] = quote;
    this.#at = at;
  }
}

function isFormula(cells: Uint8Array, from: number, classes: Uint8Array): boolean {
  const found = classes[cells[from] ?? 0] as number;
  if ((found & beginsFormula) !== 0) return true;
  if (found !== mayBeginWideSign) return false;
  const sign = ((cells[from] as number) << 16) | ((cells[from + 1] ?? 0) << 8) | (cells[from + 2] ?? 0);
  return wideFormulaSigns.has(sign);
}
