import type { RecordId } from "../../base/ids.ts";
import { prepared, type Db, type Mode, type Statement } from "../database.ts";
import { quoted } from "../sql-text.ts";
import type { Cell, Row } from "./row-decoder.ts";
import { dataColumns, fenceTable, rawTable } from "./table-layout.ts";
import type { ChildPlan, TablePlan } from "./table-plan.ts";

const fenceFacts = ["sha", "listed_sha", "source", "received_seq", "read_at", "last_change", "gone"];
const digits = (sha: string) => `iif(${sha} IS NULL, NULL, lower(hex(${sha})))`;
const fenceCells = fenceFacts.map((name) => (name.endsWith("sha") ? `${digits(name)} AS ${name}` : name));

const names = (plan: TablePlan) => dataColumns(plan).map((column) => column.name);
const ofRows = ({ table }: TablePlan) => quoted(table);
const ofRaw = ({ table }: TablePlan) => quoted(rawTable(table));
const ofFence = ({ table }: TablePlan) => quoted(fenceTable(table));
const updateFence = (set: string) => (plan: TablePlan) => `UPDATE ${ofFence(plan)} SET ${set} WHERE id = ?`;

/** Parameters: the first id and the last one. */
const between = "WHERE id BETWEEN ? AND ?";

const texts = {
  upsertRow: (plan) => upsertSql(plan.table, [...names(plan), "_deleted_at", "_synced_at", "_detail_at"]),
  selectRows: (plan) =>
    `SELECT ${listed([...names(plan), "_deleted_at", "_detail_at", "id"])} FROM ${ofRows(plan)} ${between}`,
  removeRow: (plan) => `DELETE FROM ${ofRows(plan)} WHERE id = ?`,
  markDeleted: (plan) => `UPDATE ${ofRows(plan)} SET _deleted_at = ?, _synced_at = ? WHERE id = ?`,
  /** Takes the JSON as the bytes that came, without making a string of them. */
  upsertRaw: (plan) => `INSERT INTO ${ofRaw(plan)} (id, json) VALUES (?, CAST(? AS TEXT))
    ON CONFLICT (id) DO UPDATE SET json = excluded.json`,
  selectRaw: (plan) => `SELECT json FROM ${ofRaw(plan)} WHERE id = ?`,
  selectRaws: (plan) => `SELECT CAST(json AS BLOB), id FROM ${ofRaw(plan)} ${between}`,
  /** `key` is the id as text, which no number rounds. */
  selectFences: (plan) =>
    `SELECT CAST(id AS TEXT) AS key, ${fenceCells.join(", ")} FROM ${ofFence(plan)} ${between}`,
  selectFence: (plan) => `SELECT ${fenceCells.join(", ")} FROM ${ofFence(plan)} WHERE id = ?`,
  /** Parameter: ids as a JSON array; `at` is the place of each in it. */
  selectFencesOf: (plan) =>
    `SELECT key AS at, ${fenceCells.join(", ")} FROM json_each(?) CROSS JOIN ${ofFence(plan)} f ON f.id = value`,
  upsertFence: ({ table }) => upsertSql(fenceTable(table), fenceFacts),
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
} satisfies Readonly<Record<string, (plan: TablePlan) => string>>;

const modes: Readonly<Record<string, Mode>> = {
  selectRows: "cells",
  selectRaws: "cells",
  selectRaw: "column",
};

/** The rows of a record, its own with the data columns. */
export interface RecordRows extends Pick<Row, "children"> {
  readonly cells: readonly Cell[];
  readonly deletedAt: string | null;
  readonly detailAt: string | null;
}

/** The statements of one resource, for the plan's present columns; each is prepared at its first use. */
export class TableStatements {
  private readonly db: Db;
  private readonly plan: TablePlan;

  constructor(db: Db, plan: TablePlan) {
    this.db = db;
    this.plan = plan;
  }

  of(name: keyof typeof texts): Statement {
    const text = () => texts[name](this.plan).replaceAll("?", "+?");
    return prepared(this.db, this, name, modes[name] ?? "rows", text);
  }

  /** Writes the rows of a record. `at`: when it was written, ISO. */
  writeRows(id: RecordId, rows: RecordRows, at: string): void {
    this.of("upsertRow").run([id, ...rows.cells, rows.deletedAt, at, rows.detailAt]);
    this.clearChildren(id);
    for (const [i, child] of this.plan.children.entries())
      this.insertChildren(child, id, rows.children[i] ?? []);
  }

  clearChildren(id: RecordId): void {
    for (const { table, parentKey } of this.plan.children) {
      const text = () => `DELETE FROM ${quoted(table)} WHERE ${quoted(parentKey)} = +?`;
      prepared(this.db, this, `clear ${table}`, "rows", text).run(id);
    }
  }

  /** Of each child table: `position`, the data columns and the parent's id of the rows of parents between two ids. */
  selectChildren(): Statement[] {
    return this.plan.children.map((child) => {
      const [key = "", ...columns] = childColumns(child);
      const text = () =>
        `SELECT ${listed([...columns, key])} FROM ${quoted(child.table)}
          WHERE ${quoted(key)} BETWEEN +? AND +? ORDER BY ${quoted(key)}, position`;
      return prepared(this.db, this, `select ${child.table}`, "cells", text);
    });
  }

  /** The rows of one parent; several with each call. */
  private insertChildren(child: ChildPlan, id: RecordId, rows: readonly (readonly Cell[])[]): void {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const part = rows.slice(from, from + rowsAtOnce);
      const cells: Cell[] = [];
      for (const [i, row] of part.entries()) {
        cells.push(id, from + i);
        for (const cell of row) cells.push(cell);
      }
      const text = () => insertSql(child.table, childColumns(child), part.length);
      prepared(this.db, this, `insert ${part.length} ${child.table}`, "rows", text).run(cells);
    }
  }

  /** Throws where a table or column of the plan is not there. */
  assertComplete(): void {
    for (const name of ["upsertRow", "selectRaw", "selectFence"] as const) this.of(name);
    this.selectChildren();
  }
}

const rowsAtOnce = 8;

function childColumns({ parentKey, columns }: ChildPlan): string[] {
  return [parentKey, "position", ...columns.map((column) => column.name)];
}

function listed(columns: readonly string[]): string {
  return columns.map(quoted).join(", ");
}

/** `INSERT … ON CONFLICT (id) DO UPDATE SET` every other column; parameters: the id, and in the order of `others`. */
function upsertSql(table: string, others: readonly string[]): string {
  const changes = others.map(quoted).map((column) => `${column} = excluded.${column}`);
  return `${insertSql(table, ["id", ...others])} ON CONFLICT (id) DO UPDATE SET ${changes.join(", ")}`;
}

/**
 * `INSERT` of one or several rows; parameters in the order of `columns`. Names are never keys of an object here:
 * JavaScript puts a column called `1` first.
 */
function insertSql(table: string, columns: readonly string[], rows = 1): string {
  const row = `(${columns.map(() => "?").join(", ")})`;
  const values = Array.from({ length: rows }, () => row).join(", ");
  return `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(", ")}) VALUES ${values}`;
}
