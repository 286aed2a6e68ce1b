import type { RunResult } from "better-sqlite3";
import { canonicalId, type RecordId } from "../base/ids.ts";
import type { Db, Statement } from "./database.ts";
import { keptStatements, rowsWithIds, type KeptStatements } from "./kept-statements.ts";

/**
 * Base of the classes that hold the SQL on own tables. A statement is prepared at its first use and kept by its text
 * for all objects of the class on this connection. Give a text to one of these methods only, because the mode that it
 * sets stays with the statement.
 */
export abstract class Repository {
  protected readonly db: Db;
  private readonly bySql: KeptStatements;

  constructor(db: Db) {
    this.db = db;
    this.bySql = keptStatements(db, new.target);
  }

  /** The prepared statement of a text. */
  protected statement(sql: string): Statement {
    let statement = this.bySql.get(sql);
    if (!statement) this.bySql.set(sql, (statement = this.db.prepare(withSteadyPlan(sql))));
    return statement;
  }

  protected execute(sql: string, ...values: readonly unknown[]): RunResult {
    return this.statement(sql).run(...values);
  }

  /** All rows; `T` has the names of the query's columns. */
  protected selectAll<T>(sql: string, ...values: readonly unknown[]): T[] {
    return this.statement(sql).all(...values) as T[];
  }

  /** All rows, with ids of records. */
  protected selectExact<T>(sql: string, ...values: readonly unknown[]): T[] {
    return rowsWithIds(this.statement(sql), values);
  }

  /** Is there a row? */
  protected exists(sql: string, ...values: readonly unknown[]): boolean {
    return this.statement(sql).get(...values) !== undefined;
  }

  /** The first column of all rows. */
  protected selectColumn<T>(sql: string, ...values: readonly unknown[]): T[] {
    const statement = this.statement(sql).pluck();
    return statement.all(...values) as T[];
  }

  /** The first column of all rows, as ids of records. */
  protected selectIds(sql: string, ...values: readonly unknown[]): RecordId[] {
    const statement = this.statement(sql).pluck().safeIntegers();
    return (statement.all(...values) as bigint[]).map(canonicalId);
  }
}

/**
 * SQLite plans `column = ?` and `LIMIT ?` by the value that is bound, so it prepares such a statement again after each
 * binding. For the lease of a work item that took ten times as long as the search. `+?` is the same value, and its plan
 * depends on no value.
 */
function withSteadyPlan(sql: string): string {
  return sql.replaceAll("?", "+?");
}
