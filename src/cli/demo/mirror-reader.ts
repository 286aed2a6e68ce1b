import { Runs } from "../../state/runs.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import { openDatabase, type Db } from "../../store/database.ts";

/** The rows of one SQL query of a database file, read-only. */
export function queryRows<T>(database: string, sql: string): T[] {
  return withDatabase(database, (db) => db.prepare(sql).all() as T[]);
}

/** Runs `step` on a read-only connection of its own. */
export function withDatabase<T>(database: string, step: (db: Db) => T): T {
  const db = openDatabase(database, { readonly: true });
  try {
    return step(db);
  } finally {
    db.close();
  }
}

/** Rows of documents, and reads still in the work queue. */
export function rowCounts(database: string): { documents: number; waiting: number } {
  const tables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
  return withDatabase(database, (db) => ({
    documents: tables.reduce(
      (sum, table) => sum + Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()),
      0,
    ),
    waiting: new WorkQueue(db).counts().reduce((sum, { count }) => sum + count, 0),
  }));
}

/** Reads a mirror beside its writer: what happened since the watch was opened. */
export class MirrorWatch {
  private readonly db: Db;
  private readonly changes: Changes;
  private readonly runs: Runs;
  private readonly seq: number;
  private readonly run: number;

  constructor(database: string) {
    this.db = openDatabase(database, { readonly: true });
    this.changes = new Changes(this.db);
    this.runs = new Runs(this.db);
    this.seq = this.changes.lastSeq();
    this.run = this.runs.latest(1)[0]?.id ?? 0;
  }

  hasChanged(table: string, id: number): boolean {
    return this.changes.hasChanged(this.seq, table, id);
  }

  /** Outcome of a run that began and ended since; null: none has ended. */
  runOutcome(): string | null {
    const ended = this.runs.lastEnded();
    return ended && ended.id > this.run ? ended.outcome : null;
  }

  close(): void {
    this.db.close();
  }
}
