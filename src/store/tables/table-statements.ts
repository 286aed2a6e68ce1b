import type { RecordId } from "../../base/ids.ts";
import { prepared, type Db, type Statement } from "../database.ts";
import { Repository } from "../own-tables/statement.ts";
import { insertSql, quoted, upsertSql } from "../sql-text.ts";
import type { Cell } from "./row-decoder.ts";
import { dataColumns, fenceTable, rawTable } from "./table-layout.ts";
import type { ChildPlan, TablePlan } from "./table-plan.ts";

const fenceFacts = ["sha", "listed_sha", "source", "received_seq", "read_at", "last_change", "gone"];
const fenceColumns = fenceFacts.join(", ");

/** The statements of one resource, for the plan's present columns; each is prepared at its first use. */
export class TableStatements extends Repository {
  readonly children: readonly ChildStatements[];
  private readonly plan: TablePlan;
  private readonly table: string;
  private readonly raw: string;
  private readonly fence: string;

  constructor(db: Db, plan: TablePlan) {
    super(db);
    this.plan = plan;
    this.table = quoted(plan.table);
    this.raw = quoted(rawTable(plan.table));
    this.fence = quoted(fenceTable(plan.table));
    this.children = plan.children.map((child) => new ChildStatements(db, child));
  }

  /** Throws where a table or column of the plan is not there. */
  assertComplete(): void {
    void [this.upsertRow, this.selectRaw, this.selectFence, ...this.children.map(({ select }) => select)];
  }

  /** Parameters: id, the data columns, `_deleted_at`, `_synced_at`, `_detail_at`. */
  get upsertRow(): Statement {
    const columns = () => ["id", ...this.names(), "_deleted_at", "_synced_at", "_detail_at"];
    const sql = () => upsertSql(this.plan.table, "id", columns());
    return prepared(this.db, this, "upsert row", "rows", sql);
  }

  /** The data columns, `_deleted_at` and `_detail_at`. */
  get selectRow(): Statement {
    const columns = () => selected([...this.names(), "_deleted_at", "_detail_at"]);
    return prepared(
      this.db,
      this,
      "row",
      "cells",
      () => `SELECT ${columns()} FROM ${this.table} WHERE id = ?`,
    );
  }

  get removeRow(): Statement {
    return this.statement(`DELETE FROM ${this.table} WHERE id = ?`);
  }

  get markDeleted(): Statement {
    return this.statement(`UPDATE ${this.table} SET _deleted_at = ?, _synced_at = ? WHERE id = ?`);
  }

  /** Takes the JSON as the bytes that came, without making a string of them. */
  get upsertRaw(): Statement {
    return this.statement(`INSERT INTO ${this.raw} (id, json) VALUES (?, CAST(? AS TEXT))
      ON CONFLICT (id) DO UPDATE SET json = excluded.json`);
  }

  get selectRaw(): Statement {
    return this.statement(`SELECT json FROM ${this.raw} WHERE id = ?`, "column");
  }

  get selectRawBytes(): Statement {
    return this.statement(`SELECT CAST(json AS BLOB) FROM ${this.raw} WHERE id = ?`, "column");
  }

  get selectFence(): Statement {
    return this.statement(`SELECT ${fenceColumns} FROM ${this.fence} WHERE id = ?`);
  }

  get upsertFence(): Statement {
    const sql = () => upsertSql(fenceTable(this.plan.table), "id", ["id", ...fenceFacts]);
    return prepared(this.db, this, "upsert fence", "rows", sql);
  }

  get setListedSha(): Statement {
    return this.updateFence("listed_sha = ?");
  }

  get setLastChange(): Statement {
    return this.updateFence("last_change = ?");
  }

  /** Parameters: gone twice, source, id. What is deleted has no SHA-1. */
  get setFence(): Statement {
    return this.updateFence("gone = ?, sha = iif(? = 1, NULL, sha), source = ?");
  }

  /** The next read of the record is decoded, whatever its bytes. */
  get forgetSha(): Statement {
    return this.updateFence("sha = NULL, listed_sha = NULL");
  }

  get touchFence(): Statement {
    return this.updateFence("received_seq = ?, read_at = ?, listed_sha = coalesce(?, listed_sha)");
  }

  get markGone(): Statement {
    return this.updateFence(
      "gone = 1, sha = NULL, listed_sha = NULL, received_seq = ?, read_at = ?, last_change = ?",
    );
  }

  private updateFence(set: string): Statement {
    return this.statement(`UPDATE ${this.fence} SET ${set} WHERE id = ?`);
  }

  private names(): string[] {
    return dataColumns(this.plan).map((column) => column.name);
  }
}

const rowsAtOnce = 8;

class ChildStatements extends Repository {
  private readonly plan: ChildPlan;

  constructor(db: Db, plan: ChildPlan) {
    super(db);
    this.plan = plan;
  }

  /** `position` and the data columns of each row. */
  get select(): Statement {
    const columns = () => selected(this.names().slice(1));
    const sql = () => `SELECT ${columns()} FROM ${this.table()} WHERE ${this.key()} = ? ORDER BY position`;
    return prepared(this.db, this, "rows", "cells", sql);
  }

  get clear(): Statement {
    return this.statement(`DELETE FROM ${this.table()} WHERE ${this.key()} = ?`);
  }

  /** Inserts the rows of one parent; several with each call. */
  insert(id: RecordId, rows: readonly (readonly Cell[])[]): void {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const part = rows.slice(from, from + rowsAtOnce);
      const cells: Cell[] = [];
      for (const [i, row] of part.entries()) {
        cells.push(id, from + i);
        for (const cell of row) cells.push(cell);
      }
      this.insertOf(part.length).run(cells);
    }
  }

  private insertOf(rows: number): Statement {
    const sql = () => insertSql(this.plan.table, this.names(), rows);
    return prepared(this.db, this, `insert ${rows}`, "rows", sql);
  }

  private names(): string[] {
    return [this.plan.parentKey, "position", ...this.plan.columns.map((column) => column.name)];
  }

  private table(): string {
    return quoted(this.plan.table);
  }

  private key(): string {
    return quoted(this.plan.parentKey);
  }
}

function selected(columns: readonly string[]): string {
  return columns.map(quoted).join(", ");
}
