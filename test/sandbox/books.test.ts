import { describe, expect, test } from "vitest";
import type { Snapshot } from "../support/sandbox/control.ts";
import { startSandbox } from "../support/sandbox/control.ts";
import { testDay, type Dict } from "../support/sandbox/sandbox.ts";

const documentTables = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
const payableTables = ["invoices", "credit_notes", "proformas"];

const partsOf = (record: Dict, key: string) => record[key] as Dict[];
const centsOf = (value: unknown) => Math.round(Number(value) * 100);
const sumOf = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Half away from zero, on whole numbers, so that no float decides a cent. */
function rounded(numerator: bigint, denominator: bigint): number {
  if (denominator < 0n) return rounded(-numerator, -denominator);
  const half = denominator / 2n;
  return Number(numerator >= 0n ? (numerator + half) / denominator : -((-numerator + half) / denominator));
}

const scaled = (value: unknown, digits: number) => BigInt(Math.round(Number(value) * 10 ** digits));

/** An amount less the discount of its line or document. */
function lowered(full: number, { discountType, discountValue }: Dict): number {
  if (discountType === "percentage")
    return full - rounded(BigInt(full) * scaled(discountValue, 4), 1_000_000n);
  if (discountType === "fixed")
    return full < 0 ? full + centsOf(discountValue) : full - centsOf(discountValue);
  return full;
}

/** A fixed discount lowers the gross in the proportion of the net. */
function loweredGross(document: Dict): number {
  const [net, gross] = [centsOf(document["itemsTotal"]), centsOf(document["itemsTotalWithVat"])];
  if (document["discountType"] !== "fixed") return lowered(gross, document);
  return gross - rounded(BigInt(net - lowered(net, document)) * BigInt(gross), BigInt(net));
}

/** Net and gross of a line by itself, cents. */
function lineOf(item: Dict): [number, number] {
  const full = rounded(scaled(item["unitPrice"], 4) * scaled(item["quantity"], 4), 1_000_000n);
  const net = lowered(full, item);
  return [net, net + rounded(BigInt(net) * scaled(item["vatRate"], 4), 1_000_000n)];
}

function expectedStatus(document: Dict, left: number, payments: number): string {
  if (left === 0 || (Number(document["totalWithVat"]) < 0 ? left > 0 : left < 0)) return "paid";
  if (document["status"] === "will_not_be_paid") return "will_not_be_paid";
  if (String(document["dueDate"]) < testDay) return "overdue";
  return payments > 0 ? "partially_paid" : "unpaid";
}

/** What receipts brought in less what they took out, by item and warehouse. */
function stockOf(table: (name: string) => Dict[]): Map<string, number> {
  const levels = new Map<string, number>();
  for (const [name, sign] of [
    ["warehouse_inbound_receipts", 1],
    ["warehouse_outbound_receipts", -1],
  ] as const)
    for (const receipt of table(name))
      for (const { priceListItemId, quantity } of partsOf(receipt, "items")) {
        const key = `${String(priceListItemId)}@${String((receipt["warehouse"] as Dict)["id"])}`;
        levels.set(key, (levels.get(key) ?? 0) + sign * Number(quantity));
      }
  return levels;
}

async function booksOf(records: number, seed: number): Promise<Snapshot> {
  const sandbox = await startSandbox({ today: testDay, records, seed });
  if (seed > 1) await sandbox.control.day({ changes: 300, durationMs: 0, seed }).done;
  expect(sandbox.control.failures()).toEqual([]);
  await sandbox.close();
  return sandbox.control.snapshot();
}

describe.each([
  ["as they are made up", 1_500, 1],
  ["after a working day", 120, 2],
])("the books are in order %s:", (_, records, seed) => {
  const books = booksOf(records, seed);
  const tables = books.then((all) => (name: string) => [...(all.get(name)?.values() ?? [])] as Dict[]);

  test.each(documentTables)("every line and every sum of %s to the cent, every number once", async (name) => {
    const documents = (await tables)(name);
    for (const document of documents) {
      const at = `${name} ${String(document["id"])}`;
      const items = partsOf(document, "items");
      const shown = items.map(({ total, totalWithVat }) => [centsOf(total), centsOf(totalWithVat)]);
      expect(shown, at).toEqual(
        items.map((item) => {
          const [net, gross] = lineOf(item);
          return [net, document["transferTaxLiability"] === true ? net : gross];
        }),
      );
      const [net, gross] = [sumOf(shown.map(([one = 0]) => one)), sumOf(shown.map(([, one = 0]) => one))];
      expect([centsOf(document["itemsTotal"]), centsOf(document["itemsTotalWithVat"])], at).toEqual([
        net,
        gross,
      ]);
      expect([centsOf(document["total"]), centsOf(document["totalWithVat"])], at).toEqual([
        lowered(net, document),
        loweredGross(document),
      ]);
    }
    expect(new Set(documents.map(({ number }) => number)).size).toBe(documents.length);
  });

  test("what is left to pay and the status follow from payments, each of which is in one document", async () => {
    const table = await tables;
    const paid: number[] = [];
    for (const document of payableTables.flatMap(table)) {
      const payments = partsOf(document, "payments");
      paid.push(...payments.map(({ id }) => Number(id)));
      if (payments.some(({ currencyId }) => currencyId !== document["currencyId"])) continue;
      const left = centsOf(document["totalWithVat"]) - sumOf(payments.map(({ amount }) => centsOf(amount)));
      const status = expectedStatus(document, left, payments.length);
      expect([centsOf(document["toBePaid"]), document["status"]]).toEqual([left, status]);
    }
    const own = table("document_payments").map(({ id }) => Number(id));
    expect(paid.toSorted((a, b) => a - b)).toEqual(own.toSorted((a, b) => a - b));
    expect(own.length).toBeGreaterThan(20);
  });

  test("the stock of each item is what came in less what went out", async () => {
    const table = await tables;
    const levels = stockOf(table);
    const shown = table("price_list_items").flatMap((item) =>
      partsOf(item, "stocks").map(({ warehouseId, stockQuantity }) => {
        return [`${String(item["id"])}@${String(warehouseId)}`, Number(stockQuantity)] as const;
      }),
    );
    for (const [place, level] of shown) expect(level, place).toBeCloseTo(levels.get(place) ?? 0, 6);
    expect(shown.length).toBeGreaterThan(5);
  });

  test("a credit note takes back something of a real invoice of the same client", async () => {
    const table = await tables;
    for (const note of table("credit_notes")) {
      const invoice = (await books).get("invoices")?.get(Number(note["invoiceId"]));
      expect(Number(note["totalWithVat"])).toBeLessThan(0);
      if (invoice) expect(note["clientId"]).toBe(invoice["clientId"]);
    }
  });
});

test("a payment receipt shows the same payments as its proforma, and is not older than they are", async () => {
  const books = await booksOf(1_500, 1);
  const table = (name: string) => [...(books.get(name)?.values() ?? [])] as Dict[];
  const advances = table("proformas").flatMap((proforma) => partsOf(proforma, "payments"));
  const receipts = table("invoices").filter(({ type }) => type === "payment_receipt");
  for (const receipt of receipts) {
    const paid = advances.filter(
      (payment) => (payment["receiptInvoice"] as Dict | null)?.["id"] === receipt["id"],
    );
    expect(sumOf(paid.map(({ amount }) => centsOf(amount)))).toBe(centsOf(receipt["totalWithVat"]));
    for (const { paymentDate } of paid)
      expect(String(receipt["issueDate"]) >= String(paymentDate)).toBe(true);
  }
  expect(receipts.length).toBeGreaterThan(50);
});
