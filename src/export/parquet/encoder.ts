import { quoted } from "../../store/sql-text.ts";
import type { Db, Statement } from "../../store/database.ts";
import { cellEnd, cellsSql } from "../columns/cells.ts";
import type { Encoder, Encoding, NestedSource } from "../workers/job.ts";
import { asciiText } from "../columns/number-cell.ts";
import type { KeyRange, PieceReader, RowSource } from "../columns/row-source.ts";
import type { RowGroup } from "./column-chunk.ts";
import { childrenByParent } from "./nested.ts";
import { TypeOverflow, RowGroupWriter, type WrittenGroup } from "./row-group-writer.ts";

/** Every range ends with its row group: ranges are made in any order and stand alone. */
export function createParquetEncoder(
  db: Db,
  reader: PieceReader,
  source: RowSource,
  { columns, nested }: Extract<Encoding, { kind: "parquet" }>,
): Encoder {
  const writer = new RowGroupWriter(columns, nested);
  const children = nested.map((each) => childStatement(db, source, each));
  return {
    make: (range) => {
      const parts: Uint8Array[] = [];
      const groups: RowGroup[] = [];
      const found = ({ bytes, group }: WrittenGroup) => {
        parts.push(bytes);
        groups.push(group);
      };
      reader.read(range, (cells, piece) =>
        writer.write(cells, found, nested.length === 0 ? undefined : listsIn(piece, cells)),
      );
      writer.flush(found);
      return { parts, groups, rows: groups.reduce((sum, group) => sum + Number(group.num_rows), 0) };
    },
  };

  function listsIn(piece: KeyRange, cells: Uint8Array): (from: number) => unknown[] {
    const byParent = nested.map((each, i) => {
      const found = children[i]?.get(piece.after, piece.upTo) as Uint8Array | null;
      return childrenByParent(found, each, (column) => new TypeOverflow(`${each.name}.${column}`));
    });
    return (from) => {
      const id = asciiText(cells, from, cells.indexOf(cellEnd, from));
      return byParent.map((lists) => lists.get(id) ?? []);
    };
  }
}

/** The children of the parents of a piece, one parent's after another's. */
function childStatement(
  db: Db,
  { from, key, columns: parents }: RowSource,
  { table, parentKey, columns }: NestedSource,
): Statement {
  const [id] = parents;
  const names = [parentKey, ...columns.map(({ name }) => name)];
  const piece = `SELECT ${id?.sql} FROM ${from} WHERE ${key} > ? AND ${key} <= ?`;
  const inner = `(SELECT ${names.map(quoted).join(", ")} FROM ${quoted(table)}
    WHERE ${quoted(parentKey)} IN (${piece}) ORDER BY ${quoted(parentKey)}, position)`;
  return db.prepare(cellsSql(names.map(quoted), inner)).pluck();
}
