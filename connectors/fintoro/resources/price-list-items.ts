import * as t from "../../../src/connector/record-schema.ts";
import { unit } from "./lookups.ts";
import { pagedResource } from "./resource-builders.ts";

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

export const priceListItems = pagedResource("price_list_items", "Price list and warehouse items", "name", {
  record: priceListItem,
  fullWhen: ["stocks"],
});
