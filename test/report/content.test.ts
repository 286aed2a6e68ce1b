import { afterAll, describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { applicationId } from "../../src/report/report-file.ts";
import type { Db } from "../../src/store/database.ts";
import { openSnapshot } from "../../src/state/mirror-snapshot.ts";
import { publishedCompany, reading, rowsOf } from "../support/export/published.ts";

const rowsIn = (db: Db, name: string) =>
  plain(db.prepare(`SELECT * FROM "${name}"`).raw().safeIntegers().all());

describe("the published report", async () => {
  const company = await publishedCompany({ records: 200, seed: 3 }, (truth) => ({
    clients: [...(truth.get("clients")?.keys() ?? [])].slice(0, 2),
  }));
  afterAll(() => company.close());

  test("holds every live row exactly as the mirror has it, and nothing of the mirror's own", () => {
    using snapshot = openSnapshot(company.mirror.db.name, declaration, { reportDate: "2026-11-20" });
    const report = reading(company.file);
    for (const { name, kind } of snapshot.tables) {
      if (kind === "about") continue;
      const found = rowsIn(report, name);
      expect([name, found]).toEqual([name, rowsIn(snapshot.db, name)]);
      if (kind === "view" && name !== "v_number_gaps") expect([name, found]).not.toEqual([name, []]);
    }
    const names = report
      .prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND name NOT GLOB '*_by_*'")
      .pluck()
      .all() as string[];
    expect(names.filter((name) => name.startsWith("_"))).toEqual(["_about"]);
    expect(names).not.toContain("_raw");
    const own = `SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c
      WHERE s.name <> '_about' AND c.name LIKE '\\_%' ESCAPE '\\'`;
    expect(rowsOf(report, own)).toEqual([]);
  });

  test("is sound: integrity, valid keys, statistics, indexes on keys, dates and statuses, application id", () => {
    const report = reading(company.file);
    expect(report.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(report.pragma("foreign_key_check")).toEqual([]);
    expect(report.pragma("journal_mode", { simple: true })).toBe("delete");
    expect(report.pragma("application_id", { simple: true })).toBe(applicationId);
    expect(rowsOf(report, "SELECT count(*) AS n FROM sqlite_stat1")[0]?.["n"]).toBeGreaterThan(20);
    const ofTable = "SELECT i.name FROM pragma_index_list(?) l, pragma_index_info(l.name) i";
    const indexed = (table: string) => report.prepare(ofTable).pluck().all(table);
    const columns = ["client_id", "issue_date", "due_date", "delivery_date", "status"];
    expect(indexed("invoices")).toEqual(expect.arrayContaining(columns));
    expect(indexed("invoice_items")).toEqual(expect.arrayContaining(["invoice_id", "price_list_item_id"]));
  });

  test("declares the foreign keys that hold, and names those that do not", () => {
    const report = reading(company.file);
    const keys = (table: string) =>
      report.prepare(`SELECT "from" FROM pragma_foreign_key_list('${table}')`).pluck().all();
    expect(keys("invoice_items")).toContain("invoice_id");
    expect(keys("invoices")).toContain("currency_id");
    const dangling = "SELECT 1 FROM invoices WHERE client_id NOT IN (SELECT id FROM clients)";
    expect(rowsOf(report, dangling).length).toBeGreaterThan(0);
    expect(keys("invoices")).not.toContain("client_id");
    const undeclared = "SELECT value FROM _about WHERE subject = 'invoices' AND fact = 'undeclared_keys'";
    expect(rowsOf(report, undeclared)).toEqual([{ value: expect.stringMatching(/\bclient_id\b/) }]);
  });

  test("names its time, company and source in `_about`, and has deleted records in a table of their own", () => {
    const report = reading(company.file);
    const facts = pairs(report, "SELECT fact, value FROM _about WHERE subject = 'report'");
    expect(facts).toMatchObject({
      company: "acme",
      report_date: "2026-11-20",
      timezone: "Europe/Bratislava",
      version: "1.2.3",
      published_at: "2026-11-20T12:00:00.000Z",
      connector: "fintoro",
    });
    expect(Number(facts["seq"])).toBeGreaterThan(100);
    const counted = `SELECT subject FROM _about
      WHERE fact = 'rows' AND value = (SELECT count(*) FROM invoices) AND subject = 'invoices'`;
    expect(rowsOf(report, counted)).toHaveLength(1);
    const deleted = report.prepare("SELECT resource FROM deleted_records").pluck().all();
    expect(deleted).toEqual(["clients", "clients"]);
  });

  test("has no whole amount in a view that SQLite would divide as an integer", () => {
    const report = reading(company.file);
    for (const { name: view, columns } of declaration.views ?? [])
      for (const { name } of columns.filter(({ type }) => type.startsWith("DECIMAL"))) {
        const found = report.prepare(`SELECT DISTINCT typeof(${name}) FROM ${view}`).pluck().all();
        expect(found, `${view}.${name}`).not.toContain("integer");
      }
  });

  test("gives every column of a view a type, for readers that need one", () => {
    const report = reading(company.file);
    const type = expect.stringMatching(/^(INT|REAL|TEXT|DATE|DEC|TIME|BOOL)/) as string;
    for (const { name: view, columns } of declaration.views ?? []) {
      const found = rowsOf(report, `SELECT name, type FROM pragma_table_info('${view}')`);
      expect(found, view).toEqual(columns.map(({ name }) => ({ name, type })));
    }
  });
});

function pairs(db: Db, sql: string): Record<string, string> {
  return Object.fromEntries(db.prepare(sql).raw().all() as [string, string][]);
}

/** A column declared DECIMAL stores whole numbers as integers, so 5 and 5.0 are compared as equal. */
function plain(rows: readonly unknown[]): string[] {
  return rows
    .map((row) =>
      JSON.stringify(row, (_key, value: unknown) => (typeof value === "bigint" ? Number(value) : value)),
    )
    .toSorted((a, b) => (a < b ? -1 : 1));
}
