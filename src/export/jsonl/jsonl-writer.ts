import { cellEnd, endOfCell, kindOf, nullCell, type CellColumn } from "../columns/cells.ts";
import { asciiText, realText } from "../columns/number-cell.ts";

const space = 0x20;
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Records as the service sent them, one a line. A line break in JSON stands only between tokens, so a space
 * replaces it.
 */
export class RecordLines {
  rows = 0;

  /** The lines of these cells, which are overwritten. */
  write(cells: Uint8Array): Uint8Array {
    for (let i = 0; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === newline || byte === carriageReturn) cells[i] = space;
      else if (byte === cellEnd) {
        cells[i] = newline;
        this.rows++;
      }
    }
    this.rows++;
    const out = new Uint8Array(cells.length + 1);
    out.set(cells);
    out[cells.length] = newline;
    return out;
  }
}

/** Rows as objects of their columns, one a line. */
export class RowLines {
  readonly #columns: readonly CellColumn[];
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  rows = 0;

  constructor(columns: readonly CellColumn[]) {
    this.#columns = columns;
  }

  /** The lines of these cells. */
  write(cells: Uint8Array): Uint8Array {
    const lines: string[] = [];
    let members: string[] = [];
    for (let from = 0; from <= cells.length;) {
      const end = endOfCell(cells, from);
      const column = this.#columns[members.length] as CellColumn;
      members.push(`${JSON.stringify(column.name)}:${this.#value(cells, from, end, column)}`);
      from = end + 1;
      if (members.length < this.#columns.length) continue;
      lines.push(`{${members.join(",")}}\n`);
      members = [];
    }
    this.rows += lines.length;
    return Buffer.from(lines.join(""));
  }

  #value(cells: Uint8Array, from: number, end: number, { type }: CellColumn): string {
    if (cells[from] === nullCell) return "null";
    const kind = kindOf(type);
    if (kind === "boolean") return cells[from] === 0x31 ? "true" : "false";
    if (kind === "integer") return asciiText(cells, from, end);
    if (kind === "real") return realText(cells, from, end);
    return JSON.stringify(this.#decoder.decode(cells.subarray(from, end)));
  }
}
