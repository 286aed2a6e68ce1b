import type { RecordId } from "../../base/ids.ts";
import type { Db, Statement } from "../database.ts";
import { keptStatements, type KeptStatements } from "../kept-statements.ts";
import { insertSql, quoted, upsertSql } from "../sql-text.ts";
import type { Cell } from "./row-decoder.ts";
import { dataColumns, fenceTable, rawTable } from "./table-layout.ts";
import type { ChildPlan, TablePlan } from "./table-plan.ts";

const fenceFacts = ["sha", "listed_sha", "source", "received_seq", "read_at", "last_change", "gone"];

/** Prepares statements at their first use: a mirror has 400, and most companies use few of them at a time. */
class LazyStatements {
  private readonly db: Db;
  private readonly kept: KeptStatements;

  constructor(db: Db) {
    this.db = db;
    this.kept = keptStatements(db, this);
  }

  protected statement(name: string, sql: () => string, mode: "rows" | "value" | "cells" = "rows"): Statement {
    const known = this.kept.get(name);
    if (known) return known;
    const statement = this.db.prepare(sql());
    if (mode === "value") statement.pluck();
    if (mode === "cells") statement.raw().safeIntegers();
    this.kept.set(name, statement);
    return statement;
  }
}

/** The prepared statements of one resource, for the plan's present columns. */
export class TableStatements extends LazyStatements {
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
    return this.statement("upsert row", () => upsertSql(this.plan.table, "id", columns()));
  }

  /** The data columns, `_deleted_at` and `_detail_at`. */
  get selectRow(): Statement {
    const columns = () => selected([...this.names(), "_deleted_at", "_detail_at"]);
    return this.statement("row", () => `SELECT ${columns()} FROM ${this.table} WHERE id = ?`, "cells");
  }

  get removeRow(): Statement {
    return this.statement("remove row", () => `DELETE FROM ${this.table} WHERE id = ?`);
  }

  get markDeleted(): Statement {
    const sql = () => `UPDATE ${this.table} SET _deleted_at = ?, _synced_at = ? WHERE id = ?`;
    return this.statement("mark deleted", sql);
  }

  /** Takes the JSON as the bytes that came, without making a string of them. */
  get upsertRaw(): Statement {
    const conflict = "ON CONFLICT (id) DO UPDATE SET json = excluded.json";
    const sql = () => `INSERT INTO ${this.raw} (id, json) VALUES (?, CAST(? AS TEXT)) ${conflict}`;
    return this.statement("upsert raw", sql);
  }

  get selectRaw(): Statement {
    return this.statement("raw", () => `SELECT json FROM ${this.raw} WHERE id = ?`, "value");
  }

  /** The JSON as the bytes that came. */
  get selectRawBytes(): Statement {
    const sql = () => `SELECT CAST(json AS BLOB) FROM ${this.raw} WHERE id = ?`;
    return this.statement("raw bytes", sql, "value");
  }

  get selectFence(): Statement {
    return this.statement("fence", () => `SELECT ${selected(fenceFacts)} FROM ${this.fence} WHERE id = ?`);
  }

  get upsertFence(): Statement {
    const columns = ["id", ...fenceFacts];
    return this.statement("upsert fence", () => upsertSql(fenceTable(this.plan.table), "id", columns));
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
    return this.statement(set, () => `UPDATE ${this.fence} SET ${set} WHERE id = ?`);
  }

  private names(): string[] {
    return dataColumns(this.plan).map((column) => column.name);
  }
}

/** Child rows that one statement inserts. */
const rowsAtOnce = 8;

/** The prepared statements of one child table. */
class ChildStatements extends LazyStatements {
  private readonly plan: ChildPlan;

  constructor(db: Db, plan: ChildPlan) {
    super(db);
    this.plan = plan;
  }

  /** `position` and the data columns of each row. */
  get select(): Statement {
    const columns = () => selected(this.names().slice(1));
    const sql = () => `SELECT ${columns()} FROM ${this.table()} WHERE ${this.key()} = ? ORDER BY position`;
    return this.statement("rows", sql, "cells");
  }

  get clear(): Statement {
    return this.statement("clear", () => `DELETE FROM ${this.table()} WHERE ${this.key()} = ?`);
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
    return this.statement(`insert ${rows}`, () => insertSql(this.plan.table, this.names(), rows));
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
