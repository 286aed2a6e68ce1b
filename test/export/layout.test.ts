import path from "node:path";
import { describe, expect, test } from "vitest";
import { documentDate } from "../../src/export/plan/period.ts";
import { tablesOfReport } from "../../src/store/snapshot/snapshot-tables.ts";
import { declaration as fintoro } from "../../connectors/fintoro/declaration.ts";
import { duckRows, exportOf } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { put, remove } from "../support/mirror/store.ts";

async function aMirror(totals: Readonly<Record<string, number>>) {
  const mirror = await openHasty({ declaration: fintoro });
  for (const [i, [issueDate, total]] of Object.entries(totals).entries())
    put(mirror, "invoices", { id: i + 1, total, issueDate });
  put(mirror, "clients", { id: 1, name: "Ann" });
  return mirror;
}

describe("a lake", () => {
  test("of several companies can be read by DuckDB as one glob, by company, year and month", async () => {
    const out = path.join(tempFolder(), "lake");
    const acme = await aMirror({ "2025-12-31": 1.1, "2026-01-01": 2.2, "2026-02-01": 4 });
    const other = await aMirror({ "2026-01-15": 8, "": 16 });
    await exportOf(acme, { out, format: "parquet", partition: "month" });
    await exportOf(other, { out, format: "parquet", partition: "month", company: "other" });
    const files = `read_parquet('${out}/company=*/invoices/**/*.parquet', hive_partitioning = true, union_by_name = true)`;
    const sums = await duckRows(
      `SELECT company, year, month, sum(total::DECIMAL(18,2)) FROM ${files} GROUP BY ALL ORDER BY ALL`,
    );
    const ofAcme = ["acme 2025 12 1.10", "acme 2026 01 2.20", "acme 2026 02 4.00"];
    const rows = sums.map((row) => row.map((cell) => cell ?? "none").join(" "));
    expect(rows).toEqual([...ofAcme, "other 2026 01 8.00", "other none none 16.00"]);
    const clients = `read_parquet('${out}/company=*/clients/*.parquet', hive_partitioning = true)`;
    const named = await duckRows(`SELECT company, name FROM ${clients} ORDER BY 1`);
    expect(named.flat()).toEqual(["acme", "Ann", "other", "Ann"]);
  });

  test("can be read where a company has no rows of a table, and shows the months that a view has", async () => {
    const out = path.join(tempFolder(), "lake");
    const tables = ["invoices", "v_revenue_by_month"];
    const acme = await aMirror({ "2025-01-31": 1.5, "2026-01-01": 2 });
    await exportOf(acme, { out, format: "parquet", partition: "month", tables });
    const young = await aMirror({});
    await exportOf(young, { out, format: "parquet", partition: "month", tables, company: "young" });
    const files = (table: string) =>
      `read_parquet('${out}/company=*/${table}/**/*.parquet', hive_partitioning = true, union_by_name = true)`;
    const invoices = `SELECT company, year, month, id FROM ${files("invoices")} ORDER BY ALL`;
    expect(await duckRows(invoices)).toEqual([
      ["acme", "2025", "01", "1"],
      ["acme", "2026", "01", "2"],
    ]);
    const months = `SELECT year, month, revenue FROM ${files("v_revenue_by_month")} ORDER BY ALL`;
    expect(await duckRows(months)).toEqual([
      ["2025", "2025-01", "1.500000"],
      ["2026", "2026-01", "2.000000"],
    ]);
  });

  test.each(["csv", "jsonl"] as const)(
    "of %s has a manifest that names every file by its relative path, with its rows",
    async (format) => {
      const mirror = await aMirror({ "2025-12-31": 1.5, "2026-01-01": 2 });
      const request = { format, partition: "year", tables: ["invoices"] } as const;
      const { manifest: written, text } = await exportOf(mirror, request);
      expect(written.files.map(({ file, rows }) => [file, rows])).toEqual([
        [`../company=acme/invoices/year=2025/part-0.${format}`, 1],
        [`../company=acme/invoices/year=2026/part-0.${format}`, 1],
      ]);
      const content = text(written.files[0]?.file ?? "");
      expect([content.includes("2025-12-31"), content.includes("2026")]).toEqual([true, false]);
    },
  );

  test.each(["csv", "jsonl", "parquet"] as const)(
    "of %s holds what changed by date, deletions without one",
    async (format) => {
      const mirror = await aMirror({ "2025-12-31": 1.5, "2026-01-01": 2 });
      remove(mirror, "invoices", 1);
      const since = { log: null, seq: 0 };
      const request = { format, partition: "year", since, tables: ["invoices"] } as const;
      const { manifest: written } = await exportOf(mirror, request);
      expect(written.files.map(({ file }) => path.dirname(file))).toEqual([
        "../company=acme/invoices/year=__HIVE_DEFAULT_PARTITION__",
        "../company=acme/invoices/year=2026",
      ]);
    },
  );
});

test("tables are partitioned by the documents' date; those without one, or with a nullable one, stay in one file", () => {
  const dates = tablesOfReport(fintoro)
    .filter(({ kind }) => kind === "table")
    .map((table) => [table.name, documentDate(fintoro, table)] as const)
    .filter(([, date]) => date !== null);
  const issued = `warehouse_inbound_receipts warehouse_outbound_receipts invoices credit_notes
    proformas orders quotations`.split(/\s+/);
  const byIssue = Object.fromEntries(issued.map((name) => [name, "issue_date"]));
  expect(Object.fromEntries(dates)).toEqual({ ...byIssue, document_payments: "payment_date" });
});
