import { decimal, divide, toNumber } from "../base/decimal-money.ts";
import { hasCounter } from "../base/identifiers.ts";
import { latin } from "../base/values.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { Company } from "../model/company-state.ts";
import { itemShape, warehouseShape, type PriceListItem } from "../model/records.ts";
import { check, refuse } from "../rules/problems.ts";
import { filled, parse } from "../rules/request-shape.ts";
import { isIn } from "./partners.ts";
import { by } from "./record-list.ts";
import { collection } from "./collection.ts";

const patterns = ["inboundNumericalSeriesPattern", "outboundNumericalSeriesPattern"] as const;

/** The last warehouse stays, and every warehouse that a receipt still names. */
export const warehouses = collection("warehouses", {
  idempotent: false,
  factsFrom: ({ tables }, input, own) => {
    const sent = parse(warehouseShape, input);
    const same = tables.warehouses.where(({ code }) => code === sent.code);
    check((problems) => {
      problems.expectUnique("code", same, own);
      for (const field of patterns) problems.expect(hasCounter(sent[field]), field, "counter");
    });
    return sent;
  },
  view: (_, warehouse) => ({ ...warehouse }),
  beforeRemove: ({ tables }, { id }) => {
    if (tables.warehouses.size <= 1) refuse("warehouse", "last_warehouse");
    const receipts = [tables.warehouse_inbound_receipts, tables.warehouse_outbound_receipts];
    if (receipts.some((table) => table.findBy("warehouse", id).length > 0))
      refuse("warehouse", "warehouse_used");
  },
});

const stockOf = ({ id }: PriceListItem, { stock }: Company) => toNumber(stock.total(id));

/** The price list. A list may leave the stock by warehouse to the record. */
export const priceList = collection("price_list_items", {
  factsFrom: ({ tables }, input, own) => {
    const item = filled(itemShape, parse(itemShape, input));
    check((problems) => {
      problems.expect(!item.useWarehouse || item.warehouseCode !== null, "warehouseCode", "required");
      for (const field of ["ean", "warehouseCode"] as const)
        problems.expectUnique(field, tables.price_list_items.findBy(field, item[field] ?? ""), own);
    });
    return item;
  },
  view: itemView,
  list: {
    filters: {
      name: by.text(({ name, warehouseCode, ean }, text) => isIn(text, name, warehouseCode, ean)),
      priceFrom: by.number(({ unitPrice }, from) => unitPrice >= from),
      priceTo: by.number(({ unitPrice }, to) => unitPrice <= to),
      stockFrom: by.number((item, from, { company }) => stockOf(item, company) >= from),
      stockTo: by.number((item, to, { company }) => stockOf(item, company) <= to),
      onlyWarehouseItems: by.flag(({ useWarehouse }) => useWarehouse),
    },
    sorts: { name: ({ name }) => latin(name), unit_price: ({ unitPrice }) => unitPrice, stock: stockOf },
    usualOrder: ["name", "asc"],
    changingSort: "stock",
    pageSize: { most: 200, usual: 50 },
    preview: (company, item, language) =>
      (company.settings.stocksInLists ? itemView : itemPreview)(company, item, language),
  },
});

/** Price with VAT, as precise as the price itself. */
export function priceWithVat(price: number, rate: number): number {
  return toNumber(divide(decimal(price) * (decimal(100) + decimal(rate)), decimal(100)));
}

function itemPreview(company: Company, item: PriceListItem, language: Language) {
  const { purchasePrice: price, purchaseVatRate: rate } = item;
  return {
    ...item,
    unit: lookup("units", item.unitId, language),
    unitPriceWithVat: priceWithVat(item.unitPrice, item.vatRate),
    stock: stockOf(item, company),
    purchasePriceWithVat: price !== null && rate !== null ? priceWithVat(price, rate) : null,
  };
}

/** An item with its stock in each warehouse that ever held it. */
function itemView(company: Company, item: PriceListItem, language: Language) {
  const levels = [...company.stock.of(item.id)].toSorted(([a], [b]) => a - b);
  const stocks = levels.flatMap(([warehouseId, quantity]) => {
    const warehouse = company.tables.warehouses.get(warehouseId);
    if (!warehouse) return [];
    const { name: warehouseName, code: warehouseCode } = warehouse;
    return [{ warehouseId, warehouseName, warehouseCode, stockQuantity: toNumber(quantity) }];
  });
  return { ...itemPreview(company, item, language), stocks };
}
