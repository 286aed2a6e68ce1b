import { cellEnd, kindOf, nullCell, type CellColumn } from "../columns/cells.ts";
import { asciiText, realText } from "../columns/number-cell.ts";

const space = 0x20;
const newline = 0x0a;

/**
 * Records as the service gave them, one a line: the bytes that came. A line break can stand in JSON only
 * between its tokens, so a space in its place changes nothing.
 */
export class RecordLines {
  rows = 0;

  /** Writes into `cells` itself. */
  write(cells: Uint8Array): Uint8Array {
    for (let i = 0; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === newline || byte === 0x0d) cells[i] = space;
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

/** Rows that no record of the service is: an object for each, with all its columns. */
export class RowLines {
  readonly #columns: readonly CellColumn[];
  readonly #isRecord: boolean;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  rows = 0;

  /** `isRecord`: the last column is a record's JSON, whose keys follow those of the columns before it. */
  constructor(columns: readonly CellColumn[], isRecord: boolean) {
    this.#columns = columns;
    this.#isRecord = isRecord;
  }

  write(cells: Uint8Array): Uint8Array {
    const lines: string[] = [];
    let members: string[] = [];
    for (let from = 0; from <= cells.length;) {
      const found = cells.indexOf(cellEnd, from);
      const end = found === -1 ? cells.length : found;
      members.push(this.#member(cells, from, end, members.length));
      from = end + 1;
      if (members.length < this.#columns.length) continue;
      lines.push(`{${members.filter((member) => member !== "").join(",")}}\n`);
      members = [];
    }
    this.rows += lines.length;
    return Buffer.from(lines.join(""));
  }

  #member(cells: Uint8Array, from: number, end: number, index: number): string {
    const column = this.#columns[index] as CellColumn;
    const isRecord = this.#isRecord && index === this.#columns.length - 1;
    if (isRecord) return cells[from] === nullCell ? "" : this.#recordMembers(cells.subarray(from, end));
    return `${JSON.stringify(column.name)}:${this.#value(cells, from, end, column)}`;
  }

  /** `{"a":1}` -> `"a":1` */
  #recordMembers(json: Uint8Array): string {
    const text = this.#decoder
      .decode(json)
      .replaceAll(/[\r\n]/g, " ")
      .trim();
    return text.slice(1, -1).trim();
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
