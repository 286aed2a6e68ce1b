import type { RunResult } from "better-sqlite3";
import type { Db, Statement } from "./database.ts";

/** Statements by their text, prepared once per connection: preparing costs more than most of them take to run. */
export class Statements {
  private readonly db: Db;
  private readonly bySql = new Map<string, Statement>();

  constructor(db: Db) {
    this.db = db;
  }

  /** Use each text in one way only: a `pluck()` set on its statement stays. */
  get(sql: string): Statement {
    let statement = this.bySql.get(sql);
    if (!statement) this.bySql.set(sql, (statement = this.db.prepare(sql)));
    return statement;
  }

  /** All rows; `T` has the names of the query's columns. */
  all<T>(sql: string, ...values: readonly unknown[]): T[] {
    return this.get(sql).all(...values) as T[];
  }

  /** The first column of all rows. */
  column<T>(sql: string, ...values: readonly unknown[]): T[] {
    return this.get(sql)
      .pluck()
      .all(...values) as T[];
  }

  run(sql: string, ...values: readonly unknown[]): RunResult {
    return this.get(sql).run(...values);
  }
}
