import { openDatabase } from "../../store/sqlite.ts";

/** What the demo asks of the mirror, as anybody with SQL could. */
export function question<T>(database: string, sql: string): T[] {
  const db = openDatabase(database, { readonly: true });
  try {
    return db.prepare(sql).all() as T[];
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

export const receivables = `SELECT client_name AS client, count(*) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM invoices WHERE _deleted_at IS NULL AND to_be_paid > 0 AND status <> 'will_not_be_paid'
  GROUP BY client_name ORDER BY owed DESC LIMIT 3`;
