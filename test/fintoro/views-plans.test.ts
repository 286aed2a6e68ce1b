import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import type { Db } from "../../src/store/database.ts";
import { emptyReport } from "../support/export/published.ts";

interface Step {
  readonly parent: number;
  readonly detail: string;
}

/** Steps of a query plan that scan a whole table for each row of an outer loop. */
function scansInLoops(db: Db, sql: string): string[] {
  const levels = new Map<number, string[]>();
  for (const { parent, detail } of db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as Step[]) {
    if (/^(SCAN|SEARCH) /.test(detail)) levels.set(parent, [...(levels.get(parent) ?? []), detail]);
  }
  return [...levels.values()].flatMap(([, ...inner]) => inner.filter((detail) => detail.startsWith("SCAN")));
}

describe("views over many records", () => {
  test("scan no table once for each row of another", () => {
    const db = emptyReport();
    for (const { name } of manifest.views ?? [])
      expect([name, ...scansInLoops(db, `SELECT * FROM ${name}`)]).toEqual([name]);
    expect(scansInLoops(db, "SELECT 1 FROM orders, quotations")).toHaveLength(1);
  });

  test("pass a filter on a document or its client to the tables, and search for no column that a query leaves out", () => {
    const db = emptyReport();
    for (const table of ["invoices", "credit_notes"])
      db.exec(`CREATE INDEX ${table}_by_client ON ${table} (client_id)`);
    const plan = (sql: string) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as Step[]).map(({ detail }) => detail).join("\n");
    for (const filter of ["document_id = 5", "client_id = 5"])
      expect(plan(`SELECT * FROM v_sales_lines WHERE ${filter}`)).not.toMatch(/^SCAN [id]\b/m);
    expect(plan("SELECT sum(total) FROM v_sales_lines")).not.toContain("CORRELATED");
  });
});
