import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakturoid } from "../../connectors/fakturoid/declaration.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import type { ConnectorDeclaration } from "../../src/connector/connector-declaration.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import type { RedactRule } from "../../src/store/snapshot/redaction.ts";
import { knownPlan } from "../../src/store/tables/table-plan.ts";
import { rememberIdentity } from "../../src/state/meta.ts";
import { duckRows, exportOf } from "../support/export/export.ts";
import { publish, reading, rowsOf } from "../support/export/published.ts";
import type { Row } from "../support/export/recount.ts";
import { openShop } from "../support/mirror/mirror.ts";
import { put, remove } from "../support/mirror/store.ts";

const sums = { currencyId: 2, total: 10.5, totalWithVat: 12.6, items: [] };
const invoice = { id: 1, number: "FA1", client: { name: "Ann" }, issueDate: "2026-10-01", ...sums };
const paid = { currency: { id: 2 }, amount: 5, paymentDate: "2026-10-02" };
const payment = { id: 3, documentType: "invoice", documentId: 9, ...paid };

async function mirrorOf(own: ConnectorDeclaration = declaration): Promise<Mirror> {
  const mirror = await openShop({ declaration: own });
  rememberIdentity(mirror, { name: "Acme", salt: "5aac11c0", fingerprint: "", businessId: null });
  return mirror;
}

/** An invoice, a payment and a client that are deleted. */
async function deletedOnes(): Promise<Mirror> {
  const mirror = await mirrorOf();
  put(mirror, "currencies", { id: 2, symbol: "CZK", name: "Koruna" });
  put(mirror, "invoices", invoice, { source: "detail" });
  put(mirror, "document_payments", payment);
  put(mirror, "clients", { id: 4, name: "Ann", type: "person" });
  const deleted = { invoices: 1, document_payments: 3, clients: 4 };
  for (const [table, id] of Object.entries(deleted)) remove(mirror, table, id);
  return mirror;
}

const rule = (columns: string, mode: RedactRule["mode"]): RedactRule => ({ columns, mode });
const deletedAt = "2026-03-01T00:00:00.000Z";
const proof = { deleted_at: deletedAt, cause: "confirm" };
const money = { currency: "CZK", ...proof };
const unknown = { number: null, name: null, total: null, currency: null, date: null };
const known = {
  client: { ...unknown, resource: "clients", id: 4, name: "Ann", ...proof },
  payment: { ...unknown, resource: "document_payments", id: 3, total: 5, date: "2026-10-02", ...money },
  invoice: {
    resource: "invoices",
    id: 1,
    number: "FA1",
    name: "Ann",
    total: 10.5,
    date: "2026-10-01",
    ...money,
  },
};
const all = "SELECT * FROM deleted_records ORDER BY resource";

async function published(mirror: Mirror, redact: readonly RedactRule[] = []): Promise<Row[]> {
  const { file } = await publish(mirror, { redact, force: true, declaration: mirror.declaration });
  return rowsOf(reading(file), all);
}

describe("deleted records", () => {
  test("show what was known last, when they were found to be gone and what proved it, in the report and in exports", async () => {
    const mirror = await deletedOnes();
    expect(await published(mirror)).toEqual([known.client, known.payment, known.invoice]);
    const { out } = await exportOf(mirror, { format: "parquet", tables: ["deleted_records"] });
    const rows = await duckRows(
      `SELECT id, number, total, date, cause FROM '${out}/acme/deleted_records.parquet' ORDER BY id`,
    );
    expect(rows).toEqual([
      ["1", "FA1", "10.500000", "2026-10-01", "confirm"],
      ["3", null, "5.000000", "2026-10-02", "confirm"],
      ["4", null, null, null, "confirm"],
    ]);
    // The log has been pruned.
    mirror.db.exec("DELETE FROM _change_log WHERE resource = 'invoices'");
    expect(await published(mirror)).toContainEqual({ ...known.invoice, cause: null });
  });

  test("show nothing that is redacted in their tables, nor through a redacted reference", async () => {
    const mirror = await deletedOnes();
    const redacted =
      "*.client_name clients.name invoices.total document_payments.payment_date *.currency_id".split(" ");
    const hashing = redacted.map((one) => rule(one, "hash"));
    const hashed = await published(mirror, hashing);
    const hash = expect.stringMatching(/^[0-9a-f]{32}$/);
    expect(hashed).toEqual([
      { ...known.client, name: hash },
      { ...known.payment, date: null, currency: null },
      { ...known.invoice, name: hash, total: null, currency: null },
    ]);
    expect(hashed[0]?.["name"]).toBe(hashed[2]?.["name"]);
    const columns = ["*.client_name", "clients.name", "invoices.number", "currencies.symbol"];
    const dropped = columns.map((one) => rule(one, "drop"));
    expect(await published(mirror, dropped)).toEqual([
      { ...known.client, name: null },
      { ...known.payment, currency: null },
      { ...known.invoice, name: null, number: null, currency: null },
    ]);
    const report = readFileSync(mirror.db.name.replace(/\.db$/, ".report.db"));
    for (const secret of ["FA1", "Ann", "CZK"])
      expect([secret, report.includes(secret)]).toEqual([secret, false]);
  });

  test("of another service show what its connector says", async () => {
    const mirror = await mirrorOf(fakturoid);
    const own = { number: "2026-1", client_name: "Ann", issued_on: "2026-10-01" };
    put(mirror, "invoices", { id: 1, ...own, total: "10.5", currency: "CZK" });
    remove(mirror, "invoices", 1);
    expect(await published(mirror)).toEqual([{ ...known.invoice, number: "2026-1" }]);
  });

  test.each([declaration, fakturoid])(
    "are described by columns that the tables of $name have",
    ({ resources, lastKnown = {} }) => {
      const columns = new Set(resources.flatMap((one) => knownPlan(one).columns.map(({ name }) => name)));
      const paths = Object.values(lastKnown).flatMap((some) => some.flatMap((one) => one.split(".")));
      expect(paths.filter((name) => !columns.has(name))).toEqual([]);
      expect(paths.length).toBeGreaterThan(6);
    },
  );
});
