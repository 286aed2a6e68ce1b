import { Runs } from "../../state/runs.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import { openDatabase, type Db } from "../../store/database.ts";

/** The rows of one SQL query of a database file, read-only. */
export function question<T>(database: string, sql: string, ...values: readonly (string | number)[]): T[] {
  return withDatabase(database, (db) => db.prepare(sql).all(...values) as T[]);
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
  const sql = `SELECT
    (SELECT count(*) FROM invoices) + (SELECT count(*) FROM credit_notes) + (SELECT count(*) FROM proformas)
      + (SELECT count(*) FROM orders) + (SELECT count(*) FROM quotations)`;
  return withDatabase(database, (db) => ({
    documents: Number(db.prepare(sql).pluck().get()),
    waiting: new WorkQueue(db).counts().reduce((sum, { count }) => sum + count, 0),
  }));
}

export interface Watch {
  /** Has this record changed since the watch began? */
  sees(table: string, id: number): boolean;
  /** Has a run that began since then ended, and how? */
  ranTo(): string | null;
  close(): void;
}

/** Looks at the mirror's file over and over, as a reader beside whoever writes it. */
export function watch(database: string): Watch {
  const db = openDatabase(database, { readonly: true });
  const changes = new Changes(db);
  const runs = new Runs(db);
  const seq = changes.lastSeq();
  const run = runs.latest(1)[0]?.id ?? 0;
  return {
    sees: (table, id) => changes.hasChanged(seq, table, id),
    ranTo: () => {
      const ended = runs.lastEnded();
      return ended && ended.id > run ? ended.outcome : null;
    },
    close: () => db.close(),
  };
}
