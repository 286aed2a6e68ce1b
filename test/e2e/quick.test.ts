import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { Runs } from "../../src/state/runs.ts";
import { sweptAt } from "../../src/state/sweeps.ts";
import { look } from "../support/truth/compare.ts";
import { aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { count, dump, expectEqual } from "../support/truth/equal.ts";

const startAtMs = Date.UTC(2026, 10, 20, 12);
const quick = { quick: true, startAtMs };
/** Tables that a quick run brings up to date where only what it looks at changed. */
const shown = [
  "invoices",
  "credit_notes",
  "orders",
  "quotations",
  "document_payments",
  "clients",
  "suppliers",
  "business_cases",
  "bank_accounts",
  "warehouse_outbound_receipts",
  "numerical_series",
  "warehouses",
  "price_list_items",
];
const ownFacts = ["_runs", "_meta"];

const mirrored = () => aMirroredCompany({ records: 60 }, { startAtMs });

/** Ids of a table's live rows with this status. */
function withStatus(company: Company, table: string, status: string): number[] {
  const sql = `SELECT id FROM ${table} WHERE status = ? AND _deleted_at IS NULL ORDER BY id`;
  return look(company.file, (db) => db.prepare(sql).pluck().all(status)) as number[];
}

/** When each resource was last read whole. */
function freshness({ file }: Company) {
  return look(file, (db) =>
    manifest.resources.map((one) => sweptAt(manifest, one, new Runs(db).sweptTimes())),
  );
}

describe("a quick run", () => {
  test("brings edits of all kinds within a few dozen requests, also of old open documents", async () => {
    const company = await mirrored();
    const { control } = company.sandbox;
    const [paid = 0, credited = 0] = withStatus(company, "invoices", "overdue");
    control.alter("invoices", paid, { issueDate: "2025-02-03" });
    await sync(company, { startAtMs });
    const types = company.sandbox.control.events().length;
    control.trigger("invoices.paid", paid);
    control.trigger("credit-notes.created");
    for (const type of ["clients.updated", "suppliers.created", "business-cases.updated"])
      control.trigger(type);
    for (const type of ["invoices.created", "orders.created", "quotations.created"]) control.trigger(type);
    control.trigger("warehouse-outbound-receipts.created");
    const [waiting = 0] = withStatus(company, "quotations", "waiting");
    control.alter("quotations", waiting, { status: "accepted" });
    expect(control.events().length).toBeGreaterThan(types + 8);
    expect(credited).not.toBe(0);

    const report = await sync(company, quick);
    expect(report).toMatchObject({ outcome: "complete", swept: {}, resumed: false, troubles: [] });
    expect(report.requests.total).toBeLessThanOrEqual(60);
    // Other receipts of the warehouse show its next number, and move no stock.
    expect(report.requests.detail).toBeLessThanOrEqual(12);
    expectEqual(company, { tables: shown });
  });

  test("that finds nothing writes nothing but its own row, and counts as no whole run and in no freshness", async () => {
    const company = await mirrored();
    const before = dump(company.file, ownFacts);
    const changes = count(company.file, "SELECT count(*) FROM _changes");
    const whole = look(company.file, (db) => new Runs(db).lastEnded());
    const fresh = freshness(company);
    const report = await sync(company, { ...quick, startAtMs: startAtMs + 3_600_000 });
    expect(report).toMatchObject({ outcome: "complete", swept: {} });
    expect(freshness(company)).toEqual(fresh);
    expect(report.requests.total).toBeLessThanOrEqual(45);
    expect(dump(company.file, ownFacts)).toEqual(before);
    expect(count(company.file, "SELECT count(*) FROM _changes")).toBe(changes);
    expect(look(company.file, (db) => new Runs(db).lastEnded())).toEqual(whole);
    expect(count(company.file, "SELECT count(*) FROM _runs WHERE mode = 'quick'")).toBe(1);
  });

  test("I5: deletes nothing, whatever it does not see; the next sweep proves it", async () => {
    const company = await mirrored();
    const { control } = company.sandbox;
    const [open = 0] = withStatus(company, "invoices", "unpaid").concat(
      withStatus(company, "invoices", "overdue"),
    );
    control.remove("invoices", open);
    control.remove("suppliers", Number([...(control.snapshot().get("suppliers")?.keys() ?? [])][0]));
    expect((await sync(company, quick)).outcome).toBe("complete");
    expect(count(company.file, "SELECT count(*) FROM _changes WHERE op = 'delete'")).toBe(0);
    expect((await sync(company, { startAtMs })).outcome).toBe("complete");
    expectEqual(company);
  });
});
