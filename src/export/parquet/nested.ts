import { endOfCell, nullCell } from "../columns/cells.ts";
import { asciiText } from "../columns/number-cell.ts";
import { cellParser } from "./logical-values.ts";
import { TypeOverflow, type NestedColumn } from "./parquet-types.ts";

type Struct = Record<string, unknown>;

/**
 * Groups child rows by the parent's id, which is the first column of `cells`; each row becomes a struct.
 *
 * @throws TypeOverflow with the column as `list.column`
 */
export function structsByParent(
  cells: Uint8Array | null,
  { name: list, columns }: NestedColumn,
): Map<string, Struct[]> {
  const found = new Map<string, Struct[]>();
  if (cells === null) return found;
  const parsers = columns.map(({ name, type }) => ({ name, type, parse: cellParser(type) }));
  for (let from = 0; from <= cells.length;) {
    let end = endOfCell(cells, from);
    const parent = asciiText(cells, from, end);
    const child: Struct = {};
    for (const { name, type, parse } of parsers) {
      from = end + 1;
      end = endOfCell(cells, from);
      const value = cells[from] === nullCell ? null : parse(cells, from, end);
      if (value === undefined) throw new TypeOverflow(`${list}.${name}`, type);
      child[name] = value;
    }
    from = end + 1;
    const siblings = found.get(parent);
    if (siblings) siblings.push(child);
    else found.set(parent, [child]);
  }
  return found;
}
