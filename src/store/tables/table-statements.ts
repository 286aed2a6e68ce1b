import type { RecordId } from "../../base/ids.ts";
import type { Db, Statement } from "../database.ts";
import { insertSql, quoted, upsertSql } from "../sql-text.ts";
import type { Cell } from "./row-decoder.ts";
import { dataColumns, fenceTable, rawTable } from "./table-layout.ts";
import type { ChildPlan, TablePlan } from "./table-plan.ts";

/** The prepared statements of one resource, for the plan's present columns. */
export type TableStatements = ReturnType<typeof prepareStatements>;

/** Prepares all statements of one resource. */
export function prepareStatements(db: Db, plan: TablePlan) {
  const names = dataColumns(plan).map((column) => column.name);
  const raw = rawTable(plan.table);
  const fence = fenceTable(plan.table);
  const facts = ["sha", "listed_sha", "source", "received_seq", "read_at", "last_change", "gone"];
  const select = (table: string, columns: readonly string[]) =>
    db.prepare(`SELECT ${columns.map(quoted).join(", ")} FROM ${quoted(table)} WHERE id = ?`);
  const updateFence = (set: string) => db.prepare(`UPDATE ${quoted(fence)} SET ${set} WHERE id = ?`);
  return {
    /** Parameters: id, the data columns, `_deleted_at`, `_synced_at`, `_detail_at`. */
    upsertRow: db.prepare(
      upsertSql(plan.table, "id", ["id", ...names, "_deleted_at", "_synced_at", "_detail_at"]),
    ),
    /** The data columns, `_deleted_at` and `_detail_at`. */
    selectRow: select(plan.table, [...names, "_deleted_at", "_detail_at"])
      .raw()
      .safeIntegers(),
    removeRow: db.prepare(`DELETE FROM ${quoted(plan.table)} WHERE id = ?`),
    markDeleted: db.prepare(`UPDATE ${quoted(plan.table)} SET _deleted_at = ?, _synced_at = ? WHERE id = ?`),
    /** Takes the JSON as the bytes that came, without making a string of them. */
    upsertRaw: db.prepare(
      `INSERT INTO ${quoted(raw)} (id, json) VALUES (?, CAST(? AS TEXT)) ON CONFLICT (id) DO UPDATE SET json = excluded.json`,
    ),
    selectRaw: select(raw, ["json"]).pluck(),
    /** The JSON as the bytes that came. */
    selectRawBytes: db.prepare(`SELECT CAST(json AS BLOB) FROM ${quoted(raw)} WHERE id = ?`).pluck(),
    selectFence: select(fence, facts),
    upsertFence: db.prepare(upsertSql(fence, "id", ["id", ...facts])),
    setListedSha: updateFence("listed_sha = ?"),
    setLastChange: updateFence("last_change = ?"),
    /** Parameters: gone twice, source, id. What is deleted has no SHA-1. */
    setFence: updateFence("gone = ?, sha = iif(? = 1, NULL, sha), source = ?"),
    /** The next read of the record is decoded, whatever its bytes. */
    forgetSha: updateFence("sha = NULL, listed_sha = NULL"),
    touchFence: updateFence("received_seq = ?, read_at = ?, listed_sha = coalesce(?, listed_sha)"),
    markGone: updateFence(
      "gone = 1, sha = NULL, listed_sha = NULL, received_seq = ?, read_at = ?, last_change = ?",
    ),
    children: plan.children.map((child) => childStatements(db, child)),
  };
}

/** Child rows that one statement inserts. */
const rowsAtOnce = 8;

function childStatements(db: Db, child: ChildPlan) {
  const names = [child.parentKey, "position", ...child.columns.map((column) => column.name)];
  const bySize = new Map<number, Statement>();
  const statementFor = (size: number) => {
    let statement = bySize.get(size);
    if (!statement) bySize.set(size, (statement = db.prepare(insertSql(child.table, names, size))));
    return statement;
  };
  const [table, key] = [quoted(child.table), quoted(child.parentKey)];
  const select = `SELECT ${names.slice(1).map(quoted).join(", ")} FROM ${table} WHERE ${key} = ? ORDER BY position`;
  return {
    /** `position` and the data columns of each row. */
    select: db.prepare(select).raw().safeIntegers(),
    clear: db.prepare(`DELETE FROM ${table} WHERE ${key} = ?`),
    /** Inserts the rows of one parent; several with each call. */
    insert: (id: RecordId, rows: readonly (readonly Cell[])[]) => {
      for (let from = 0; from < rows.length; from += rowsAtOnce) {
        const part = rows.slice(from, from + rowsAtOnce);
        const cells: Cell[] = [];
        for (const [i, row] of part.entries()) {
          cells.push(id, from + i);
          for (const cell of row) cells.push(cell);
        }
        statementFor(part.length).run(cells);
      }
    },
  };
}
