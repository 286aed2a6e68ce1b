import { z } from "zod";
import { toNumber } from "../../base/decimal-money.ts";
import type { PriceListItem, Receipt } from "../../model/warehouse-records.ts";
import type { Table } from "../../model/record-table.ts";
import { parse, queryFlag, queryInt, queryNumber, queryOneOf, queryText } from "../../rules/request-shape.ts";
import { latin } from "../../base/values.ts";
import { inboundView, itemPreview, itemView, outboundView } from "../../view/stock-view.ts";
import type { Answer } from "../answer.ts";
import { paged } from "../paging.ts";
import type { Call } from "../route.ts";

const receiptQuery = z.object({
  warehouseId: queryInt(),
  partnerId: queryInt(),
  number: queryText(),
  sortBy: queryOneOf(["number", "issue_date", "created_at", "updated_at"]),
  sortDirection: queryOneOf(["asc", "desc"]),
});

export function listInbound(call: Call): Answer {
  const { company, language } = call;
  const table = company.tables.warehouse_inbound_receipts;
  const ids = receiptIds(call, table, "inbound", call.query["supplierId"]);
  const view = (id: number) => inboundView(company, table.get(id) as Receipt, language);
  return paged(call, "/warehouse-inbound-receipts", ids, { most: 200, usual: 10 }, view);
}

export function listOutbound(call: Call): Answer {
  const { company, language } = call;
  const table = company.tables.warehouse_outbound_receipts;
  const ids = receiptIds(call, table, "outbound", call.query["clientId"]);
  const view = (id: number) => outboundView(company, table.get(id) as Receipt, language);
  return paged(call, "/warehouse-outbound-receipts", ids, { most: 200, usual: 10 }, view);
}

function receiptIds(
  call: Call,
  table: Table<Receipt>,
  side: string,
  partner: string | undefined,
): readonly number[] {
  const { partnerId: _, ...query } = call.query;
  const input = partner === undefined ? query : { ...query, partnerId: partner };
  const {
    sortBy = "created_at",
    sortDirection = "desc",
    warehouseId,
    partnerId,
    number,
  } = parse(receiptQuery, input);
  const keyOf = (id: number) => receiptKey(table.get(id) as Receipt, sortBy);
  const ascending = call.company.orders.by(table, `${side}/${sortBy}`, keyOf);
  const ids = sortDirection === "asc" ? ascending : ascending.toReversed();
  if (warehouseId === undefined && partnerId === undefined && number === undefined) return ids;
  return ids.filter((id) => {
    const receipt = table.get(id) as Receipt;
    return (
      (warehouseId === undefined || receipt.warehouseId === warehouseId) &&
      (partnerId === undefined || receipt.partnerId === partnerId) &&
      (number === undefined || receipt.number.includes(number))
    );
  });
}

function receiptKey(receipt: Receipt, sortBy: string): string | number {
  if (sortBy === "number") return receipt.number;
  if (sortBy === "issue_date") return receipt.issueDate;
  return sortBy === "created_at" ? receipt.createdAtMs : receipt.updatedAtMs;
}

const itemQuery = z.object({
  name: queryText(255),
  priceFrom: queryNumber(),
  priceTo: queryNumber(),
  stockFrom: queryNumber(),
  stockTo: queryNumber(),
  onlyWarehouseItems: queryFlag(),
  sortBy: queryOneOf(["name", "unit_price", "stock"]),
  sortDirection: queryOneOf(["asc", "desc"]),
});

export function listItems(call: Call): Answer {
  const { company, language } = call;
  const { sortBy = "name", sortDirection = "asc", ...wanted } = parse(itemQuery, call.query);
  const table = company.tables.price_list_items;
  const stockOf = (id: number) => toNumber(company.stock.total(id));
  const keyOf = (id: number) => itemKey(table.get(id) as PriceListItem, sortBy);
  const live = [...table.ids()];
  const ascending =
    sortBy === "stock"
      ? live.toSorted((a, b) => stockOf(a) - stockOf(b) || a - b)
      : company.orders.by(table, `items/${sortBy}`, keyOf);
  const ids = sortDirection === "asc" ? ascending : ascending.toReversed();
  const fits = (id: number) => fitsItem(table.get(id) as PriceListItem, stockOf(id), wanted);
  const viewOf = company.settings.stocksInLists ? itemView : itemPreview;
  const view = (id: number) => viewOf(company, table.get(id) as PriceListItem, language);
  const filtered = Object.values(wanted).some((value) => value !== undefined) ? ids.filter(fits) : ids;
  return paged(call, "/price-list-items", filtered, { most: 200, usual: 50 }, view);
}

function itemKey(item: PriceListItem, sortBy: string): string | number {
  return sortBy === "unit_price" ? item.unitPrice : latin(item.name);
}

type ItemFilters = Omit<z.output<typeof itemQuery>, "sortBy" | "sortDirection">;

function fitsItem(item: PriceListItem, stock: number, wanted: ItemFilters): boolean {
  const { name, priceFrom, priceTo, stockFrom, stockTo, onlyWarehouseItems } = wanted;
  const words = [item.name, item.warehouseCode ?? "", item.ean ?? ""];
  return (
    (name === undefined || words.some((word) => latin(word).includes(latin(name)))) &&
    (priceFrom === undefined || item.unitPrice >= priceFrom) &&
    (priceTo === undefined || item.unitPrice <= priceTo) &&
    (stockFrom === undefined || stock >= stockFrom) &&
    (stockTo === undefined || stock <= stockTo) &&
    (onlyWarehouseItems !== true || item.useWarehouse)
  );
}
