import { decimal, divide, toNumber } from "../base/decimal-money.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { Company } from "../model/company-state.ts";
import { itemShape, warehouseShape, type PriceListItem } from "../model/records.ts";
import { refuse } from "../rules/problems.ts";
import { filled } from "../rules/request-shape.ts";
import { collection } from "./collection.ts";
import { isIn } from "./record-list.ts";

/** A warehouse that a receipt names stays. */
export const warehouses = collection("warehouses", {
  shape: warehouseShape,
  unique: ["code"],
  facts: ({ sent }) => sent,
  view: (_, warehouse) => ({ ...warehouse }),
  idempotent: false,
  beforeRemove: ({ tables }, { id }) => {
    const receipts = [tables.warehouse_inbound_receipts, tables.warehouse_outbound_receipts];
    if (receipts.some((table) => table.findBy("warehouse", id).length > 0)) refuse("warehouse");
  },
});

const stockOf = ({ id }: PriceListItem, { stock }: Company) => toNumber(stock.total(id));

/** The price list. A list may leave the stock by warehouse to the record. */
export const priceList = collection("price_list_items", {
  shape: itemShape,
  unique: ["ean", "warehouseCode"],
  facts: ({ sent }) => filled(itemShape, sent),
  view: itemView,
  list: {
    filters: {
      name: ({ name, warehouseCode, ean }, wanted) => isIn(wanted, name, warehouseCode, ean),
      stockFrom: (item, wanted, company) => stockOf(item, company) >= Number(wanted),
      onlyWarehouseItems: ({ useWarehouse }, wanted) => useWarehouse || wanted !== "true",
    },
    sorts: { stock: stockOf },
    usualOrder: ["name", "asc"],
    pageSize: [50, 200],
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
    const { name: warehouseName, code: warehouseCode } = company.tables.warehouses.get(warehouseId) ?? {};
    return warehouseName
      ? [{ warehouseId, warehouseName, warehouseCode, stockQuantity: toNumber(quantity) }]
      : [];
  });
  return { ...itemPreview(company, item, language), stocks };
}
