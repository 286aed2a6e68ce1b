import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { publishedCompany, sorted, type PublishedCompany } from "../support/export/published.ts";
import * as re from "../support/export/recount.ts";
import type { Dict } from "../support/export/recount.ts";
import { testDay as today } from "../support/sandbox/sandbox.ts";
import type { Truth } from "../support/truth/truth.ts";

function goneFrom(truth: Truth): Record<string, string[]> {
  const ids = (table: string) => [...(truth.get(table)?.keys() ?? [])];
  return {
    invoices: [...ids("invoices").slice(3, 6), ...ids("invoices").slice(20, 21)],
    warehouse_inbound_receipts: ids("warehouse_inbound_receipts").slice(0, 1),
    suppliers: ids("suppliers").slice(0, 1),
  };
}

const items = (json: Dict) => re.parts(json, "items");

describe("views of stock and numbers, compared with the service's records", () => {
  let company: PublishedCompany;
  let records: re.Records;
  const rows = (view: string) => company.rows(view);
  const of = (table: string) => re.of(records, table);
  beforeAll(async () => {
    company = await publishedCompany({ records: 700, seed: 5 }, goneFrom);
    records = company.records;
  });
  afterAll(() => company.close());

  test("v_stock: every item by warehouse, with its value at the purchase price, null without one", () => {
    const expected = of("price_list_items").flatMap((item) =>
      re.parts(item, "stocks").map((stock) => ({
        price_list_item_id: item["id"],
        warehouse_id: stock["warehouseId"],
        quantity: stock["stockQuantity"],
        value:
          item["purchasePrice"] === null
            ? null
            : Number(re.scaled(stock["stockQuantity"], 6) * re.scaled(item["purchasePrice"], 6)) / 1e12,
      })),
    );
    const found = rows("v_stock");
    expect(found.length).toBeGreaterThan(10);
    const byKey = new Map(found.map((row) => [`${row["price_list_item_id"]} ${row["warehouse_id"]}`, row]));
    expect(byKey.size).toBe(expected.length);
    for (const { value, ...row } of expected) {
      const got = byKey.get(`${String(row.price_list_item_id)} ${String(row.warehouse_id)}`);
      expect(got).toMatchObject(row);
      if (value === null) expect(got?.["value"]).toBeNull();
      else expect(got?.["value"]).toBeCloseTo(value, 6);
    }
  });

  test("v_slow_stock: items on stock, and for how long without a sale", () => {
    const days = (table: string, key: string) =>
      of(table).flatMap((json) =>
        (json["type"] === "payment_receipt" ? [] : items(json)).map((item) => ({
          item: item["priceListItemId"],
          quantity: Number(item["quantity"]),
          day: json[key] ?? json["issueDate"],
        })),
      );
    const sold = [
      ...days("warehouse_outbound_receipts", "issueDate"),
      ...days("invoices", "deliveryDate"),
    ].filter((one) => one.quantity > 0);
    const received = days("warehouse_inbound_receipts", "issueDate");
    const expected = of("price_list_items").flatMap((item) => {
      const ofItem = (all: typeof sold) => all.filter((one) => one.item === item["id"]).map(({ day }) => day);
      const [sales, arrivals] = [ofItem(sold), ofItem(received)];
      const last = sales.length > 0 ? re.most(sales) : null;
      const since = last ?? (arrivals.length > 0 ? re.least(arrivals) : null);
      const idle = since === null ? null : re.daysBetween(since, today);
      if (Number(item["stock"]) <= 0 || (idle !== null && idle <= 90)) return [];
      const kind = idle === null ? "never_moved" : idle > 365 ? "dead" : "slow";
      return [{ price_list_item_id: item["id"], last_sold: last, idle_days: idle, state: kind }];
    });
    expect(expected.length).toBeGreaterThan(0);
    const found = rows("v_slow_stock").map(({ price_list_item_id, last_sold, idle_days, ...row }) => ({
      price_list_item_id,
      last_sold,
      idle_days,
      state: row["state"] ?? null,
    }));
    expect(sorted(found as re.Row[])).toEqual(sorted(expected as re.Row[]));
  });

  test("v_number_gaps: exactly the numbers missing between two documents", () => {
    const found = rows("v_number_gaps");
    const numbers = of("invoices")
      .map(({ number }) => String(number))
      .toSorted();
    const expected = numbers.flatMap((number, i) => {
      const next = numbers[i + 1];
      if (next?.slice(0, 4) !== number.slice(0, 4)) return [];
      const [from, to] = [Number(number.slice(4)), Number(next.slice(4))];
      return to - from < 2
        ? []
        : [
            {
              after_number: number,
              before_number: next,
              first_missing: from + 1,
              last_missing: to - 1,
              missing: to - from - 1,
            },
          ];
    });
    expect(re.inOrder(expected.map(({ missing }) => missing))).toEqual([1, 3]);
    expect(found).toHaveLength(expected.length);
    for (const row of expected)
      expect(found).toContainEqual(expect.objectContaining({ ...row, document_type: "invoices" }));
  });

  test("every view has the columns it documents, in that order, each with a description", () => {
    for (const { name, columns, doc, title } of manifest.views ?? []) {
      expect([name, Object.keys(rows(name)[0] ?? {})]).toEqual([name, columns.map((column) => column.name)]);
      for (const column of columns)
        expect([name, column.name, column.doc.length > 2]).toEqual([name, column.name, true]);
      expect([doc.length > 20, title.length > 3]).toEqual([true, true]);
    }
    expect(manifest.views?.length).toBeGreaterThan(12);
  });
});
