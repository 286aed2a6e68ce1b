import * as t from "../../../src/connector/record-schema.ts";
import { defineResource } from "../../../src/connector/resource.ts";
import { unit } from "./lookups.ts";

const priceListItemStock = t.record({
  warehouseId: t.idOf("warehouses"),
  warehouseName: t.text(),
  warehouseCode: t.text(),
  stockQuantity: t.doc("In this warehouse, after all receipts", t.decimal()),
});

export const priceListItem = t.record({
  id: t.integer(),
  name: t.text(),
  description: t.orNull(t.text()),
  unitId: t.idOf("units"),
  unit: t.stated(t.nested("units", unit)),
  unitPrice: t.doc("Selling price without VAT", t.decimal()),
  vatRate: t.doc("Percent", t.decimal()),
  unitPriceWithVat: t.decimal(),
  stock: t.doc("In all warehouses together", t.decimal()),
  stocks: t.doc(
    "By warehouse; a list may leave it out",
    t.children("price_list_item_stocks", priceListItemStock),
  ),
  ean: t.orNull(t.text()),
  useWarehouse: t.doc("Stock is kept", t.boolean()),
  warehouseCode: t.doc("Code of the stock card", t.orNull(t.text())),
  enableNegativeStock: t.boolean(),
  maxStock: t.doc("Recommended upper level", t.orNull(t.decimal())),
  purchasePrice: t.doc("Without VAT", t.orNull(t.decimal())),
  purchaseVatRate: t.doc("Percent", t.orNull(t.decimal())),
  purchasePriceWithVat: t.orNull(t.decimal()),
});

export const priceListItems = defineResource({
  name: "price_list_items",
  singular: "price_list_item",
  title: "Price list and warehouse items",
  origin: "published",
  record: priceListItem,
  list: {
    kind: "paged",
    path: "/price-list-items",
    perPage: 200,
    params: { sortBy: "name", sortDirection: "asc" },
  },
  fullWhen: ["stocks"],
  detail: "/price-list-items/{id}",
});
