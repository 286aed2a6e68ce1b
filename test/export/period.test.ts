import { expect, test } from "vitest";
import { declaration as fintoro } from "../../connectors/fintoro/declaration.ts";
import type { ExportRequest } from "../../src/export/plan/export-request.ts";
import { monthBefore, periodLimit, periodOfMonth } from "../../src/export/plan/period.ts";
import { tablesOfConnector } from "../../src/store/snapshot/snapshot-tables.ts";
import { rejectionOf } from "../support/errors.ts";
import { exportOf } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { put } from "../support/mirror/store.ts";

const october = periodOfMonth("2026-10");

/** Invoices of the last day of September, the first and the last of October, and the first of November. */
async function aMirror() {
  const mirror = await openHasty({ declaration: fintoro });
  const days = ["2026-09-30", "2026-10-01", "2026-10-31", "2026-11-01"];
  for (const [id, day] of days.entries()) {
    const items = [{ id, name: `item ${id}` }];
    put(mirror, "invoices", { id, number: `F${id}`, issueDate: day, total: id + 0.5, items });
  }
  return mirror;
}

test("both ends of a period are included, lines follow their document, a view its month", async () => {
  const mirror = await aMirror();
  const tables = ["invoices", "invoice_items", "v_revenue_by_month"];
  const { cells, manifest } = await exportOf(mirror, { tables, period: october });
  const keys = (table: string) =>
    cells(`${table}.csv`)
      .map(([key]) => key)
      .slice(1);
  expect(tables.map(keys)).toEqual([["1", "2"], ["1", "2"], ["2026-10"]]);
  const periods = ["issue_date", "issue_date", "month"].map((column) => ({ column, ...october }));
  expect(manifest.files.map(({ period }) => period)).toEqual(periods);
});

test.each(["jsonl", "parquet"] as const)("a period without an end on one side, as %s", async (format) => {
  const mirror = await aMirror();
  const rowsOf = async (request: Partial<ExportRequest>) => {
    const { manifest } = await exportOf(mirror, { tables: ["invoices"], format, ...request });
    return manifest.files.map(({ rows }) => rows);
  };
  expect(await rowsOf({ period: { from: "2026-10-02", to: null } })).toEqual([2]);
  expect(await rowsOf({ period: { from: null, to: "2026-09-30" } })).toEqual([1]);
  expect(await rowsOf({ period: october, partition: "month" })).toEqual([2]);
});

test("a period that cuts a month of a view by months is refused", async () => {
  const period = { from: "2026-10-02", to: "2026-10-31" };
  const error = await rejectionOf(exportOf(await aMirror(), { tables: ["v_vat_by_month"], period }));
  expect([error.kind, error.message]).toEqual(["usage", expect.stringContaining("whole months")]);
});

test("every view with a month, or with the day of a document or payment, declares it as its date", () => {
  const dates = new Set(["month", "issue_date", "payment_date"]);
  for (const view of fintoro.views ?? []) {
    const found = view.columns.filter(({ name }) => dates.has(name)).map(({ name }) => name);
    if (found.length > 0)
      expect([view.name, found]).toEqual([view.name, expect.arrayContaining([view.date])]);
    else expect([view.name, view.date]).toEqual([view.name, undefined]);
  }
});

test("months have their own last day", () => {
  expect(periodOfMonth("2028-02")).toEqual({ from: "2028-02-01", to: "2028-02-29" });
  expect(periodOfMonth("2026-12")).toEqual({ from: "2026-12-01", to: "2026-12-31" });
  expect([monthBefore("2026-01-31"), monthBefore("2026-12-01")]).toEqual(["2025-12", "2026-11"]);
  const tables = tablesOfConnector(fintoro);
  const clients = tables.find(({ name }) => name === "clients");
  expect(clients && periodLimit(fintoro, tables, clients, october)).toBeNull();
});
