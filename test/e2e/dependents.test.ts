import { describe, expect, test } from "vitest";
import { aMirroredCompany, sync, type Company, type SyncOptions } from "../support/company/company.ts";
import { count, expectEqual, look } from "../support/truth/equal.ts";
import { post, testDay } from "../support/sandbox/sandbox.ts";
import { truthOf } from "../support/truth/truth.ts";

/** A night that re-reads nothing: what it finds, its lists lead to. */
const night: SyncOptions = { scrub: null, parentsPerRun: 0 };

const one = (company: Company, sql: string): number => count(company.file, sql);

/** Requests for details and confirmations since `from`, as paths. */
const detailsSince = (company: Company, from: number) =>
  company.proxy.asked.slice(from).flatMap(({ path }) => (/\/\d+$/.test(path) ? path : []));

describe("what changes with a record that a list led to", () => {
  test("a credit note's invoice is read when the credit note comes, and when it goes", async () => {
    const company = await aMirroredCompany();
    const invoice = one(
      company,
      "SELECT id FROM invoices WHERE total > 0 AND id NOT IN (SELECT invoice_id FROM credit_notes) LIMIT 1",
    );
    const made = await post(company.sandbox, `/invoices/${invoice}/credit-notes`, {});
    expect(made.status).toBe(201);
    expect((await sync(company, night)).outcome).toBe("complete");
    expectEqual(company, { tables: ["invoices", "credit_notes"] });
    company.sandbox.control.remove("credit_notes", Number(made.json["id"]));
    expect((await sync(company, night)).outcome).toBe("complete");
    expectEqual(company, { tables: ["invoices", "credit_notes"] });
  });

  test("a receipt's items are read: a move between warehouses shows in no list", async () => {
    const company = await aMirroredCompany({ stocksInLists: false });
    const [from, to] = look(company.file, (db) =>
      db.prepare("SELECT id FROM warehouses ORDER BY id").pluck().all(),
    ) as [number, number];
    const item = one(
      company,
      `SELECT price_list_item_id FROM price_list_item_stocks WHERE warehouse_id = ${from} AND stock_quantity > 4`,
    );
    const asked = company.proxy.asked.length;
    for (const [path, warehouse] of [
      ["/warehouse-outbound-receipts", from],
      ["/warehouse-inbound-receipts", to],
    ] as const) {
      const items = [{ priceListItemId: item, quantity: 2, unitPrice: 1.5, vatRate: 23 }];
      const receipt = { number: "M-1", warehouseId: warehouse, languageId: 1, issueDate: testDay, items };
      expect((await post(company.sandbox, path, receipt)).status).toBe(201);
    }
    expect((await sync(company, night)).outcome).toBe("complete");
    expectEqual(company, { tables: ["price_list_items", "warehouses"] });
    expect(detailsSince(company, asked)).toEqual([`/price-list-items/${item}`]);
  });

  test("a CRM event is read only when it shows its document otherwise", async () => {
    const company = await aMirroredCompany();
    const sql = `SELECT metadata_related_document_document_id FROM contact_activity_logs
      WHERE metadata_related_document_document_type = 'invoice' LIMIT 1`;
    const invoice = one(company, sql);
    const events = [...(truthOf(company.sandbox).get("contact_activity_logs")?.keys() ?? [])];
    for (const [change, isShown] of [
      [{ note: "Iná poznámka", dueDate: "2027-01-01" }, false],
      [{ issueDate: "2026-10-02" }, true],
    ] as const) {
      company.sandbox.control.alter("invoices", invoice, change);
      const asked = company.proxy.asked.length;
      expect((await sync(company, night)).outcome).toBe("complete");
      const details = detailsSince(company, asked);
      expect(details.filter((path) => path === `/invoices/${invoice}`)).toHaveLength(1);
      expect(details.some((path) => path.startsWith("/contact-activity-logs/"))).toBe(isShown);
      expect(details.length).toBeLessThan(events.length);
      expectEqual(company, { tables: ["invoices", "contact_activity_logs"] });
    }
  });
});
