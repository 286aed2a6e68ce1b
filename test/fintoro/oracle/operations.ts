import * as re from "../../support/export/recount.ts";
import type { Dict, Row } from "../../support/export/recount.ts";
import * as b from "./books.ts";
import type { Books, Money, Oracle } from "./books.ts";

/** What was issued, with the column that it adds to. */
function issued(books: Books): { readonly json: Dict; readonly place: string; readonly money: Money }[] {
  const advance = b.ofAdvance(books);
  const offered = (table: string, place: string) =>
    re.of(books.records, table).map((json) => ({ json, place, money: b.plain(books, json) }));
  const bills = b.billsOf(books).map((json) => ({
    json,
    place: advance(json) ? "receipted_advances" : "invoiced",
    money: b.money(json, "total"),
  }));
  return [...offered("quotations", "quoted"), ...offered("orders", "ordered"), ...bills];
}

const placed = (all: ReturnType<typeof issued>, name: string) =>
  b.sums(
    name,
    all.filter(({ place }) => place === name).map(({ money }) => money),
  );

function pipeline(books: Books): Row[] {
  const offers = issued(books).filter(({ place }) => place === "quoted" || place === "ordered");
  const state = (json: Dict) =>
    json["status"] === "waiting" && String(json["validityDate"]) < books.today ? "expired" : json["status"];
  return b
    .groups(offers, ({ json }) => [re.monthOf(json["issueDate"]), b.currencyOf(books, json)])
    .map(([[month = "", currency = ""], all]) => {
      const quoted = all.filter(({ place }) => place === "quoted");
      const of = (name: string) => quoted.filter(({ json }) => state(json) === name);
      const accepted = of("accepted").length;
      const answered = accepted + of("rejected").length;
      return {
        month,
        currency,
        quotations: quoted.length,
        ...placed(all, "quoted"),
        accepted,
        rejected: of("rejected").length,
        waiting: of("waiting").length,
        expired: of("expired").length,
        ...b.sums(
          "accepted_total",
          quoted.map(({ json, money }) => (state(json) === "accepted" ? money : { ...money, cents: 0n })),
        ),
        conversion: answered === 0 ? null : Math.round((10_000 * accepted) / answered) / 100,
        orders: all.length - quoted.length,
        ...placed(all, "ordered"),
      };
    });
}

function casesByStatus(books: Books): Row[] {
  const byCase = b.groups(issued(books), ({ json }) => [json["businessCaseId"], b.currencyOf(books, json)]);
  const shown = re.of(books.records, "business_cases").flatMap((one) => {
    const mine = byCase.filter(([[id]]) => id === String(one["id"]));
    const status = one["status"] === null ? null : (re.part(one, "status")["id"] as number);
    if (mine.length === 0) return [{ status, currency: null, all: [] }];
    return mine.map(([[, currency = null], all]) => ({ status, currency, all }));
  });
  return b
    .groups(shown, ({ status, currency }) => [status, currency])
    .map(([, cases]) => {
      const { status = null, currency = null } = cases[0] ?? {};
      const all = cases.flatMap((one) => one.all);
      return {
        status_id: status,
        status: b.nameIn(books, "business_case_statuses", status),
        currency,
        business_cases: cases.length,
        ...placed(all, "quoted"),
        ...placed(all, "ordered"),
        ...placed(all, "invoiced"),
        ...placed(all, "receipted_advances"),
      };
    });
}

function unpaidProformas(books: Books): Row[] {
  return re
    .of(books.records, "proformas")
    .filter(b.isOpen)
    .map((json) => ({
      proforma_id: json["id"] as number,
      ...b.shown(json, "number"),
      ...b.whose(books, json),
      days_overdue: b.overdueDays(json, books),
      age: re.ageOf(b.overdueDays(json, books)),
      ...b.sums("total_with_vat", [b.plain(books, json, "totalWithVat")]),
      ...b.sums("to_be_paid", [b.plain(books, json, "toBePaid")]),
    }));
}

const printed = (json: Dict) => (re.part(json, "supplier")["name"] ?? null) as string | null;

function purchasesBySupplier(books: Books): Row[] {
  return b
    .groups(re.of(books.records, "warehouse_inbound_receipts"), (json) => [
      json["supplierId"],
      json["supplierId"] === null ? printed(json) : null,
      b.currencyOf(books, json),
    ])
    .map(([[id = "null", , currency = ""], all]) => {
      const names = all.map((json) => b.nameIn(books, "suppliers", json["supplierId"]) ?? printed(json));
      const amounts = (field: string) => all.map((json) => b.plain(books, json, field));
      return {
        supplier_id: id === "null" ? null : Number(id),
        supplier_name: names.every((name) => name === null) ? null : re.most(names),
        currency,
        receipts: all.length,
        ...b.sums("total", amounts("total")),
        ...b.sums("total_with_vat", amounts("totalWithVat")),
        first_issue_date: re.least(all.map((json) => json["issueDate"])),
        last_issue_date: re.most(all.map((json) => json["issueDate"])),
      };
    });
}

function stock(books: Books): Row[] {
  return re.of(books.records, "price_list_items").flatMap((item) =>
    re.parts(item, "stocks").map(({ warehouseId, stockQuantity }) => {
      const millionths = (price: Dict[string]) =>
        re.divided(re.scaled(stockQuantity, 6) * re.scaled(price, 6), 1_000_000n);
      const { id, purchasePrice = null } = item;
      return {
        price_list_item_id: id as number,
        warehouse_id: warehouseId as number,
        quantity: stockQuantity as number,
        value: purchasePrice === null ? null : Number(millionths(purchasePrice)) / 1e6,
      };
    }),
  );
}

/** Items on stock without a sale for more than 90 days. An advance sells nothing yet. */
function slowStock(books: Books): Row[] {
  const days = (table: string, field: string) =>
    re
      .of(books.records, table)
      .filter(({ type }) => type !== "payment_receipt")
      .flatMap((json) => {
        const day = json[field] ?? json["issueDate"];
        return re.parts(json, "items").map((item) => ({ id: item["priceListItemId"], item, day }));
      })
      .filter(({ item }) => Number(item["quantity"]) > 0);
  const sold = [...days("warehouse_outbound_receipts", "issueDate"), ...days("invoices", "deliveryDate")];
  const received = days("warehouse_inbound_receipts", "issueDate");
  return re.of(books.records, "price_list_items").flatMap((item) => {
    const of = (all: typeof sold) => all.filter(({ id }) => id === item["id"]).map(({ day }) => day);
    const last = of(sold).length > 0 ? re.most(of(sold)) : null;
    const since = last ?? (of(received).length > 0 ? re.least(of(received)) : null);
    const idle = since === null ? null : re.daysBetween(since, books.today);
    if (Number(item["stock"]) <= 0 || (idle !== null && idle <= 90)) return [];
    const state = idle === null ? "never_moved" : idle > 365 ? "dead" : "slow";
    return [{ price_list_item_id: item["id"] as number, last_sold: last, idle_days: idle, state }];
  });
}

/** The numbers missing between two documents of a kind and a year; the last three digits count. */
function numberGaps(books: Books): Row[] {
  return ["invoices", "credit_notes", "proformas", "orders", "quotations"].flatMap((table) => {
    const numbers = re.of(books.records, table).map(({ number }) => String(number));
    return numbers.toSorted().flatMap((number, i, all) => {
      const next = all[i + 1] ?? "";
      const [from, to] = [Number(number.slice(-3)), Number(next.slice(-3))];
      if (next.slice(0, -3) !== number.slice(0, -3) || to - from < 2) return [];
      const gap = { first_missing: from + 1, last_missing: to - 1, missing: to - from - 1 };
      return [{ document_type: table, after_number: number, before_number: next, ...gap }];
    });
  });
}

export const operationOracles: Readonly<Record<string, Oracle>> = {
  v_unpaid_proformas: unpaidProformas,
  v_pipeline: pipeline,
  v_business_cases_by_status: casesByStatus,
  v_purchases_by_supplier: purchasesBySupplier,
  v_stock: stock,
  v_slow_stock: slowStock,
  v_number_gaps: numberGaps,
};
