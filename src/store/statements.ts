import type { Db, Statement } from "./database.ts";

/** Prepared statements by their text: preparing costs more than most of them take to run. */
export class Statements {
  private readonly db: Db;
  private readonly bySql = new Map<string, Statement>();

  constructor(db: Db) {
    this.db = db;
  }

  /** Each text is used in one way only: a `pluck()` set on it stays. */
  get(sql: string): Statement {
    let statement = this.bySql.get(sql);
    if (!statement) this.bySql.set(sql, (statement = this.db.prepare(sql)));
    return statement;
  }
}
