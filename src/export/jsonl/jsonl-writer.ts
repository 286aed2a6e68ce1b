import { cellEnd, endOfCell, kindOf, nullCell, asciiText, cellText, realText } from "../columns/cells.ts";
import type { CellColumn, CellKind } from "../columns/cells.ts";

const space = 0x20;
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Records as the service sent them, one a line; `cells` are overwritten. A line break in JSON stands only between
 * tokens, so a space replaces it.
 */
export function recordLines(cells: Uint8Array): Uint8Array {
  for (let i = 0; i < cells.length; i++) {
    const byte = cells[i] as number;
    if (byte === newline || byte === carriageReturn) cells[i] = space;
    else if (byte === cellEnd) cells[i] = newline;
  }
  const out = new Uint8Array(cells.length + 1);
  out.set(cells);
  out[cells.length] = newline;
  return out;
}

/** Creates a writer of rows as objects of their columns, one a line. */
export function createRowLines(columns: readonly CellColumn[]): (cells: Uint8Array) => Uint8Array {
  const names = columns.map(({ name }) => JSON.stringify(name));
  const kinds = columns.map(({ type }) => kindOf(type));
  return (cells) => {
    const lines: string[] = [];
    let members: string[] = [];
    for (let from = 0; from <= cells.length;) {
      const end = endOfCell(cells, from);
      const at = members.length;
      members.push(`${names[at]}:${jsonOf(cells, from, end, kinds[at])}`);
      from = end + 1;
      if (members.length < columns.length) continue;
      lines.push(`{${members.join(",")}}\n`);
      members = [];
    }
    return Buffer.from(lines.join(""));
  };
}

function jsonOf(cells: Uint8Array, from: number, end: number, kind: CellKind | undefined): string {
  if (cells[from] === nullCell) return "null";
  if (kind === "boolean") return cells[from] === 0x31 ? "true" : "false";
  if (kind === "integer") return asciiText(cells, from, end);
  if (kind === "real") return realText(cells, from, end);
  return JSON.stringify(cellText(cells, from, end));
}
