import { cellEnd, nullCell } from "../columns/cells.ts";
import { asciiText, realText } from "../columns/number-cell.ts";
import { daysOf, microsOf } from "./logical-values.ts";
import { decimalOf, type ParquetColumn } from "./parquet-types.ts";
import { scaledOf } from "./scaled.ts";

/** A child table as a column of its parent: a list of structs, in the order of `position`. */
export interface NestedColumn {
  readonly name: string;
  readonly columns: readonly ParquetColumn[];
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

type Struct = Record<string, unknown>;

/**
 * The children of some parents by the parent's id, from cells whose first column is that id. Throws what
 * `misfit` makes of the name of a column whose type cannot hold a value.
 */
export function childrenByParent(
  cells: Uint8Array | null,
  { columns }: NestedColumn,
  misfit: (column: string) => Error,
): Map<string, Struct[]> {
  const found = new Map<string, Struct[]>();
  if (cells === null) return found;
  for (let from = 0; from <= cells.length;) {
    let end = endOf(cells, from);
    const parent = asciiText(cells, from, end);
    const child: Struct = {};
    for (const column of columns) {
      from = end + 1;
      end = endOf(cells, from);
      const value = valueOf(cells, from, end, column);
      if (value === undefined) throw misfit(column.name);
      child[column.name] = value;
    }
    from = end + 1;
    const siblings = found.get(parent);
    if (siblings) siblings.push(child);
    else found.set(parent, [child]);
  }
  return found;
}

function endOf(cells: Uint8Array, from: number): number {
  const end = cells.indexOf(cellEnd, from);
  return end === -1 ? cells.length : end;
}

/** As hyparquet-writer takes it; undefined: the type cannot hold it. */
function valueOf(cells: Uint8Array, from: number, end: number, { type }: ParquetColumn): unknown {
  if (cells[from] === nullCell) return null;
  switch (type) {
    case "TEXT":
      return decoder.decode(cells.subarray(from, end));
    case "INTEGER":
      return BigInt(asciiText(cells, from, end));
    case "REAL":
      return Number(asciiText(cells, from, end));
    case "BOOLEAN":
      return cells[from] !== 0x30;
    case "DATE":
      return daysOf(asciiText(cells, from, end)) ?? undefined;
    case "TIMESTAMP":
      return microsOf(asciiText(cells, from, end)) ?? undefined;
    default: {
      const { precision, scale } = decimalOf(type) ?? { precision: 38, scale: 18 };
      return scaledOf(realText(cells, from, end), precision, scale) ?? undefined;
    }
  }
}
