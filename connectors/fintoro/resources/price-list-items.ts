import { defineResource } from "../../../src/connector/define.ts";
import {
  boolean,
  children,
  decimal,
  doc,
  idOf,
  integer,
  nested,
  orNull,
  record,
  stated,
  text,
} from "../../../src/connector/record-schema.ts";
import { unit } from "./lookups.ts";

const priceListItemStock = record({
  warehouseId: idOf("warehouses"),
  warehouseName: text(),
  warehouseCode: text(),
  stockQuantity: doc("In this warehouse, after all receipts", decimal()),
});

export const priceListItem = record({
  id: integer(),
  name: text(),
  description: orNull(text()),
  unitId: idOf("units"),
  unit: stated(nested("units", unit)),
  unitPrice: doc("Selling price without VAT", decimal()),
  vatRate: doc("Percent", decimal()),
  unitPriceWithVat: decimal(),
  stock: doc("In all warehouses together", decimal()),
  stocks: doc(
    "By warehouse; a list may leave it out",
    children("price_list_item_stocks", priceListItemStock),
  ),
  ean: orNull(text()),
  useWarehouse: doc("Stock is kept", boolean()),
  warehouseCode: doc("Code of the stock card", orNull(text())),
  enableNegativeStock: boolean(),
  maxStock: doc("Recommended upper level", orNull(decimal())),
  purchasePrice: doc("Without VAT", orNull(decimal())),
  purchaseVatRate: doc("Percent", orNull(decimal())),
  purchasePriceWithVat: orNull(decimal()),
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
