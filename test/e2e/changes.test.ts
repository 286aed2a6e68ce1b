import { describe, expect, test } from "vitest";
import { aMirroredCompany, sync, type Company, type SyncOptions } from "../support/company/company.ts";
import {
  count,
  expectEqual,
  expectReplayable,
  expectTombstonesTrue,
  look,
  serviceIds,
  lastId,
} from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";

/** One more run while nothing changes; afterwards mirror and service are equal. */
async function syncAndCheck(company: Company, options: SyncOptions = {}): Promise<void> {
  const report = await sync(company, options);
  expect({ outcome: report.outcome, troubles: report.troubles }).toEqual({
    outcome: "complete",
    troubles: [],
  });
  expectEqual(company);
  expectTombstonesTrue(company);
  expectReplayable(company);
}

const invoices = { resources: ["invoices", "document_payments"] };

function deletedAt(company: Company, table: string, id: number): string | null {
  const sql = `SELECT _deleted_at FROM "${table}" WHERE id = ?`;
  return look(company.file, (db) => db.prepare(sql).pluck().get(id) as string | null);
}

describe("a record that is deleted between two runs", () => {
  test("is read on its own route, besides one that exists, and becomes a tombstone with its last values; its parts are deleted", async () => {
    const company = await aMirroredCompany();
    const id = lastId(company, "invoices");
    company.sandbox.control.remove("invoices", id);
    const asked = company.proxy.asked.length;
    await syncAndCheck(company);
    const paths = company.proxy.asked.slice(asked).map(({ path }) => path);
    const details = paths.filter((path) => /^.invoices.\d/.test(path));
    expect(details.filter((path) => path !== `/invoices/${id}`)).toHaveLength(1);
    expect(details.length).toBeLessThanOrEqual(3);
    expect(deletedAt(company, "invoices", id)).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(count(company.file, "SELECT count(*) FROM invoice_items WHERE invoice_id = ?", id)).toBe(0);
    const change = look(company.file, (db) =>
      db.prepare("SELECT * FROM _changes WHERE resource = 'invoices' ORDER BY seq DESC LIMIT 1").get(),
    );
    expect(change).toMatchObject({
      resource: "invoices",
      record_id: id,
      op: "delete",
      cause: "confirm",
      after: null,
    });
  });

  test("of each kind: the mirror follows, and nothing else of it goes", async () => {
    const company = await aMirroredCompany();
    const { control } = company.sandbox;
    control.create("price_list_items", {
      name: "Short-lived",
      unitId: 1,
      unitPrice: 1,
      vatRate: 23,
      useWarehouse: false,
    });
    await syncAndCheck(company);
    const tables = [
      "clients",
      "suppliers",
      "business_cases",
      "price_list_items",
      "orders",
      "webhook_subscriptions",
    ] as const;
    const lives = () =>
      tables.map((table) => count(company.file, `SELECT count(*) FROM "${table}" WHERE _deleted_at IS NULL`));
    const before = lives();
    for (const table of tables) control.remove(table, lastId(company, table));
    await syncAndCheck(company);
    expect(lives()).toEqual(before.map((live) => live - 1));
  });

  test("together with all others of its kind: the last one goes too", async () => {
    const company = await aMirroredCompany();
    for (const id of serviceIds(company, "credit_notes")) company.sandbox.control.remove("credit_notes", id);
    await syncAndCheck(company, { full: true });
    expect(count(company.file, "SELECT count(*) FROM credit_notes WHERE _deleted_at IS NULL")).toBe(0);
  });

  test("a status takes itself out of its cases, a client its CRM events with it", async () => {
    const company = await aMirroredCompany();
    const { control } = company.sandbox;
    const sql = "SELECT client_id FROM contact_activity_logs WHERE client_id IS NOT NULL LIMIT 1";
    const client = count(company.file, sql);
    const status = count(
      company.file,
      "SELECT status_id FROM business_cases WHERE status_id IS NOT NULL LIMIT 1",
    );
    control.remove("business_case_statuses", status);
    control.remove("clients", client);
    await syncAndCheck(company);
    expect(count(company.file, "SELECT count(*) FROM business_cases WHERE status_id = ?", status)).toBe(0);
    const left = "SELECT count(*) FROM contact_activity_logs WHERE client_id = ? AND _deleted_at IS NULL";
    expect(count(company.file, left, client)).toBe(0);
  });
});

describe("records that are made and changed between two runs", () => {
  test("are mirrored with the next run, each change with one row in the change log (I2)", async () => {
    const company = await aMirroredCompany();
    const { control } = company.sandbox;
    const before = count(company.file, "SELECT coalesce(max(seq), 0) FROM _changes");
    const supplier = control.create("suppliers", { name: "Nový dodávateľ 🌲" });
    control.update("business_case_statuses", lastId(company, "business_case_statuses"), {
      name: "=Hotovo",
      color: "#00ff00",
    });
    control.alter("orders", lastId(company, "orders"), { issueDate: "2026-11-19" });
    await syncAndCheck(company);
    const changes = look(company.file, (db) =>
      db.prepare("SELECT resource, op FROM _changes WHERE seq > ? ORDER BY resource, record_id").all(before),
    ) as { resource: string; op: string }[];
    expect(changes).toContainEqual({ resource: "suppliers", op: "insert" });
    expect(changes).toContainEqual({ resource: "orders", op: "update" });
    expect(count(company.file, "SELECT count(*) FROM suppliers WHERE id = ?", Number(supplier["id"]))).toBe(
      1,
    );
  });

  test("a payment that is recorded or taken back changes its document and stands in its own table", async () => {
    const company = await aMirroredCompany();
    const { control } = company.sandbox;
    const open = "SELECT id FROM invoices WHERE to_be_paid > 0 AND status <> 'will_not_be_paid' LIMIT 1";
    const invoice = count(company.file, open);
    const payment = control.create("document_payments", {
      documentType: "invoice",
      documentId: invoice,
      paymentMethodId: 1,
      currencyId: currencyOf(company, invoice),
      paymentDate: "2026-11-19",
      amount: 0.01,
      currencyRate: 1,
    });
    await syncAndCheck(company, invoices);
    const live =
      "SELECT count(*) FROM document_payments WHERE id = ? AND document_id = ? AND _deleted_at IS NULL";
    expect(count(company.file, live, Number(payment["id"]), invoice)).toBe(1);
    control.remove("document_payments", Number(payment["id"]));
    await syncAndCheck(company, invoices);
    expect(count(company.file, live, Number(payment["id"]), invoice)).toBe(0);
  });

  test("that no list shows are found by --full at once, also with a clock that was set back since", async () => {
    const company = await aMirroredCompany({}, { startAtMs: Date.parse("2099-01-01") });
    company.sandbox.control.alter("orders", lastId(company, "orders"), { note: "Volať až po 16:00" });
    const clientId = lastId(company, "clients");
    const metadata = { content: "Volal znova" };
    company.sandbox.control.create("contact_activity_logs", { clientId, type: "note", metadata });
    await syncAndCheck(company, { full: true });
  });

  test("a record that comes back under its old id is live again", async () => {
    const company = await aMirroredCompany();
    const id = lastId(company, "orders");
    const gone = new RegExp(`^/orders/${id}$`);
    company.proxy.obstruct(async ({ path }, passOn) => {
      if (gone.test(path)) return jsonReply(404, { message: "No query results for model." });
      return path === "/orders" ? without(await passOn(), id) : undefined;
    });
    expect((await sync(company, { resources: ["orders"] })).resources["orders"]).toMatchObject({
      deleted: 1,
    });
    expect(deletedAt(company, "orders", id)).not.toBeNull();
    company.recover();
    await syncAndCheck(company, { resources: ["orders"] });
    expect(deletedAt(company, "orders", id)).toBeNull();
  });
});

function currencyOf(company: Company, invoice: number): number {
  return count(company.file, "SELECT currency_id FROM invoices WHERE id = ?", invoice);
}

function without(reply: Awaited<ReturnType<Parameters<Company["proxy"]["obstruct"]>[0]>>, id: number) {
  if (!reply || typeof reply === "string") return reply;
  const answer = JSON.parse(reply.body.toString("utf8")) as {
    data: { id: number }[];
    paginator: { totalResults: number };
  };
  const data = answer.data.filter((one) => one.id !== id);
  return jsonReply(200, { data, paginator: { ...answer.paginator, totalResults: data.length } });
}

describe("many records deleted at once", () => {
  test("are kept without the flag and the run is partial; with it each is checked and removed (I5)", async () => {
    const company = await aMirroredCompany({ records: 60 });
    const gone = serviceIds(company, "invoices").slice(0, 25);
    for (const id of gone) company.sandbox.control.remove("invoices", id);
    const before = count(company.file, "SELECT count(*) FROM invoices WHERE _deleted_at IS NULL");
    const held = await sync(company, invoices);
    expect(held.outcome).toBe("partial");
    expect(held.troubles).toContainEqual(expect.objectContaining({ resource: "invoices", kind: "held" }));
    expect(count(company.file, "SELECT count(*) FROM invoices WHERE _deleted_at IS NULL")).toBe(before);
    const asked = company.proxy.asked.length;
    expect((await sync(company, { ...invoices, allowMassDelete: true })).outcome).toBe("complete");
    expect(count(company.file, "SELECT count(*) FROM invoices WHERE _deleted_at IS NULL")).toBe(before - 25);
    const confirmed = new Set(company.proxy.asked.slice(asked).map(({ path }) => path));
    expect(gone.every((id) => confirmed.has(`/invoices/${id}`))).toBe(true);
    await syncAndCheck(company, { full: true });
  });
});

describe("changes while a run is under way", () => {
  test.each([5, 40])(
    "before and after request %i: equal after one quiet run, never a false tombstone",
    async (n) => {
      const company = await aMirroredCompany();
      const { control } = company.sandbox;
      const moments: (() => void)[] = [
        () => control.remove("orders", serviceIds(company, "orders")[0] ?? 0),
        () => void control.create("clients", { name: "Rýchly klient", type: "company" }),
        () => control.alter("invoices", lastId(company, "invoices"), { issueDate: "2026-11-01" }),
        () => control.remove("suppliers", serviceIds(company, "suppliers")[0] ?? 0),
      ];
      const from = company.proxy.asked.length + n;
      company.proxy.obstruct(async (asked, passOn) => {
        const moment = asked.n >= from ? moments.shift() : undefined;
        if (!moment) return undefined;
        if (asked.n % 2 === 0) {
          const reply = await passOn();
          moment();
          return reply;
        }
        moment();
        return passOn();
      });
      await sync(company, { full: true });
      expectTombstonesTrue(company);
      company.recover();
      for (const moment of moments) moment();
      await syncAndCheck(company, { full: true });
    },
  );
});
