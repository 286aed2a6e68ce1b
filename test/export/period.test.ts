import { expect, test } from "vitest";
import { manifest as fintoro } from "../../connectors/fintoro/manifest.ts";
import { monthBefore, periodLimit, periodOfMonth } from "../../src/export/plan/period.ts";
import { tablesOfManifest } from "../../src/store/snapshot/snapshot-tables.ts";
import { rejectionOf } from "../support/errors.ts";
import { exportOf } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";

const october = periodOfMonth("2026-10");

/** Invoices of the last day of September, the first and the last of October, and the first of November. */
async function aMirror() {
  const mirror = await openHasty({ manifest: fintoro });
  const days = ["2026-09-30", "2026-10-01", "2026-10-31", "2026-11-01"];
  for (const [id, day] of days.entries()) {
    mirror.db.exec(
      `INSERT INTO invoices (id, number, issue_date, total, _synced_at) VALUES (${id}, 'F${id}', '${day}', ${id}.5, '')`,
    );
    mirror.db.exec(`INSERT INTO _raw_invoices (id, json) VALUES (${id}, '{"id":${id}}')`);
    mirror.db.exec(
      `INSERT INTO invoice_items (invoice_id, position, id, name) VALUES (${id}, 0, ${id}, 'item ${id}')`,
    );
  }
  return mirror;
}

const firstCells = (csv: string) =>
  csv
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(",")[0]);

test("both ends of a period are included, lines follow their document, a view its month", async () => {
  const mirror = await aMirror();
  const tables = ["invoices", "invoice_items", "v_revenue_by_month"];
  const { text, manifest } = await exportOf(mirror, { tables, period: october });
  expect(firstCells(text("invoices.csv"))).toEqual(["1", "2"]);
  expect(firstCells(text("invoice_items.csv"))).toEqual(["1", "2"]);
  expect(firstCells(text("v_revenue_by_month.csv"))).toEqual(["2026-10"]);
  expect(manifest.files.map(({ period }) => period)).toEqual([
    { column: "issue_date", from: "2026-10-01", to: "2026-10-31" },
    { column: "issue_date", from: "2026-10-01", to: "2026-10-31" },
    { column: "month", from: "2026-10-01", to: "2026-10-31" },
  ]);
});

test.each(["jsonl", "parquet"] as const)("a period without an end on one side, as %s", async (format) => {
  const mirror = await aMirror();
  const since = { tables: ["invoices"], format, period: { from: "2026-10-02", to: null } };
  expect((await exportOf(mirror, since)).manifest.files.map(({ rows }) => rows)).toEqual([2]);
  const until = { tables: ["invoices"], format, period: { from: null, to: "2026-09-30" } };
  expect((await exportOf(mirror, until)).manifest.files.map(({ rows }) => rows)).toEqual([1]);
  const byMonth = { tables: ["invoices"], format, period: october, partition: "month" } as const;
  expect((await exportOf(mirror, byMonth)).manifest.files.map(({ rows }) => rows)).toEqual([2]);
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
  const tables = tablesOfManifest(fintoro);
  const clients = tables.find(({ name }) => name === "clients");
  expect(clients && periodLimit(fintoro, tables, clients, october)).toBeNull();
});
