import { openDatabase } from "../../store/database.ts";

/** What the demo asks of a database, as anybody with SQL could. */
export function question<T>(database: string, sql: string, ...values: readonly (string | number)[]): T[] {
  const db = openDatabase(database, { readonly: true });
  try {
    return db.prepare(sql).all(...values) as T[];
  } finally {
    db.close();
  }
}

export function rowCounts(database: string): { documents: number; waiting: number } {
  const sql = `SELECT
    (SELECT count(*) FROM invoices) + (SELECT count(*) FROM credit_notes) + (SELECT count(*) FROM proformas)
      + (SELECT count(*) FROM orders) + (SELECT count(*) FROM quotations) AS documents,
    (SELECT count(*) FROM _work) AS waiting`;
  return question<{ documents: number; waiting: number }>(database, sql)[0] ?? { documents: 0, waiting: 0 };
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
  const latest = (sql: string) => db.prepare<[], { latest: number }>(sql).get()?.latest ?? 0;
  const seq = latest("SELECT max(seq) AS latest FROM _changes");
  const run = latest("SELECT max(id) AS latest FROM _runs");
  const change = db.prepare("SELECT 1 FROM _changes WHERE seq > ? AND resource = ? AND record_id = ?");
  const ended = db.prepare<[number], { outcome: string }>(
    "SELECT outcome FROM _runs WHERE id > ? AND outcome IS NOT NULL",
  );
  return {
    sees: (table, id) => change.get(seq, table, id) !== undefined,
    ranTo: () => ended.get(run)?.outcome ?? null,
    close: () => db.close(),
  };
}
