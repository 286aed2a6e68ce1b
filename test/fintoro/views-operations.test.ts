import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { publishedCompany, sorted, type PublishedCompany } from "../support/published.ts";
import * as re from "../support/recount.ts";
import type { Dict } from "../support/recount.ts";
import { testDay as today } from "../support/sandbox.ts";
import type { Truth } from "../support/truth.ts";

function goneFrom(truth: Truth): Record<string, string[]> {
  const ids = (table: string) => [...(truth.get(table)?.keys() ?? [])];
  return {
    invoices: [...ids("invoices").slice(3, 6), ...ids("invoices").slice(20, 21)],
    warehouse_inbound_receipts: ids("warehouse_inbound_receipts").slice(0, 1),
    suppliers: ids("suppliers").slice(0, 1),
  };
}

const items = (json: Dict) => re.parts(json, "items");
const state = (json: Dict) =>
  json["status"] === "waiting" && String(json["validityDate"]) < today ? "expired" : String(json["status"]);
const total = (all: readonly Dict[], field = "total") =>
  re.units(re.sum(all.map((json) => re.cents(json[field]))));
const statusOf = (json: Dict) => (json["status"] === null ? null : re.part(json, "status")["id"]);
const supplierKey = (json: Dict) =>
  JSON.stringify([
    json["supplierId"],
    json["supplierId"] === null ? (re.part(json, "supplier")["name"] ?? null) : null,
  ]);
const nameIn = (records: re.Records, table: string, id: unknown) =>
  (re.of(records, table).find((one) => one["id"] === id)?.["name"] ?? null) as string | null;

describe("views of stock, payments, offers and numbers, compared with the service's records", () => {
  let company: PublishedCompany;
  let records: re.Records;
  const rows = (view: string) => company.rows(view);
  const of = (table: string) => re.of(records, table);
  const currencyOf = (json: Dict) =>
    re.symbolOf(records, json["currencyId"] ?? re.part(json, "currency")["id"]);
  const byMonth = (table: string) =>
    re.grouped(of(table), (json) => `${re.monthOf(json["issueDate"])} ${currencyOf(json)}`);
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
        items(json).map((item) => ({
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

  test("v_unpaid_proformas: each one that is not paid; EUR is known for EUR only", () => {
    const open = of("proformas").filter(
      (json) => Number(json["toBePaid"]) > 0 && json["status"] !== "will_not_be_paid",
    );
    expect(open.length).toBeGreaterThan(3);
    const found = new Map(rows("v_unpaid_proformas").map((row) => [row["proforma_id"], row]));
    expect(found.size).toBe(open.length);
    for (const json of open) {
      const days = Math.max(0, re.daysBetween(json["dueDate"], today));
      expect(found.get(json["id"] as number)).toMatchObject({
        number: json["number"],
        client_id: json["clientId"],
        days_overdue: days,
        age: re.ageOf(days),
        to_be_paid: json["toBePaid"],
        to_be_paid_eur: currencyOf(json) === "EUR" ? json["toBePaid"] : null,
      });
    }
  });

  test("v_pipeline: quotations by their outcome, and orders, by month", () => {
    const [quotations, orders] = [byMonth("quotations"), byMonth("orders")];
    const expected = [...new Set([...quotations.keys(), ...orders.keys()])].map((key) => {
      const [quoted, ordered] = [quotations.get(key) ?? [], orders.get(key) ?? []];
      const count = (name: string) => quoted.filter((json) => state(json) === name).length;
      const inEuro = (all: readonly Dict[], among: readonly Dict[]) =>
        re.sumKnown(among.map((json) => re.plainEuro(records, json, 0n))) === null ? null : total(all);
      const accepted = quoted.filter((json) => state(json) === "accepted");
      const answered = count("accepted") + count("rejected");
      return {
        month: key.slice(0, 7),
        currency: key.slice(8),
        quotations: quoted.length,
        quoted: total(quoted),
        quoted_eur: inEuro(quoted, quoted),
        accepted: count("accepted"),
        rejected: count("rejected"),
        waiting: count("waiting"),
        expired: count("expired"),
        accepted_total: total(accepted),
        accepted_total_eur: inEuro(accepted, quoted),
        conversion: answered === 0 ? null : Math.round((10_000 * count("accepted")) / answered) / 100,
        orders: ordered.length,
        ordered: total(ordered),
        ordered_eur: inEuro(ordered, ordered),
      };
    });
    expect(sorted(rows("v_pipeline"))).toEqual(sorted(expected));
  });

  test("v_business_cases_by_status: cases, and what was quoted, ordered and invoiced in them", () => {
    const found = rows("v_business_cases_by_status");
    const caseIds = new Set(of("business_cases").map(({ id }) => id));
    const linked = ["quotations", "orders", "invoices", "credit_notes"].flatMap((table) =>
      of(table).flatMap((json) => (caseIds.has(json["businessCaseId"] ?? 0) ? [{ table, json }] : [])),
    );
    expect(linked.length).toBeGreaterThan(5);
    const columns = { quoted: ["quotations"], ordered: ["orders"], invoiced: ["invoices", "credit_notes"] };
    for (const [column, tables] of Object.entries(columns)) {
      for (const currency of new Set(linked.map(({ json }) => currencyOf(json)))) {
        const mine = found.filter((row) => row["currency"] === currency);
        const expected = linked.filter(
          ({ table, json }) => tables.includes(table) && currencyOf(json) === currency,
        );
        const advances = (row: re.Row) => (column === "invoiced" ? re.cents(row["receipted_advances"]) : 0n);
        expect(re.sum(mine.map((row) => re.cents(row[column]) + advances(row)))).toBe(
          re.sum(expected.map(({ json }) => re.cents(json["total"]))),
        );
      }
    }
    const idle = of("business_cases").filter(
      ({ id }) => !linked.some(({ json }) => json["businessCaseId"] === id),
    );
    const expectedIdle = [...re.grouped(idle, (json) => String(statusOf(json)))].map(([id, all]) => [
      id,
      all.length,
    ]);
    const idleRows = found.filter((row) => row["currency"] === null);
    expect(re.inOrder(idleRows.map((row) => [String(row["status_id"]), row["business_cases"]]))).toEqual(
      re.inOrder(expectedIdle),
    );
  });

  test("v_purchases_by_supplier: receipts by supplier, deleted ones included", () => {
    const expected = [...re.grouped(of("warehouse_inbound_receipts"), supplierKey)].map(([, all]) => {
      const [first] = all as [Dict];
      const names = all.map(
        (json) =>
          nameIn(records, "suppliers", json["supplierId"]) ?? re.part(json, "supplier")["name"] ?? null,
      );
      return {
        supplier_id: first["supplierId"],
        supplier_name: names.every((name) => name === null) ? null : re.most(names),
        currency: "EUR",
        receipts: all.length,
        total: total(all, "total"),
        total_eur: total(all, "total"),
        total_with_vat: total(all, "totalWithVat"),
        total_with_vat_eur: total(all, "totalWithVat"),
        first_issue_date: re.least(all.map((json) => json["issueDate"])),
        last_issue_date: re.most(all.map((json) => json["issueDate"])),
      };
    });
    expect(sorted(rows("v_purchases_by_supplier"))).toEqual(sorted(expected as re.Row[]));
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
