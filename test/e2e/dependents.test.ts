import { describe, expect, test } from "vitest";
import { aMirroredCompany, sync, type Company, type SyncOptions } from "../support/company/company.ts";
import { count, expectEqual, look } from "../support/truth/equal.ts";
import { testDay } from "../support/sandbox/control.ts";
import { post } from "../support/sandbox/sandbox.ts";

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
});
