import type { z } from "zod";
import * as t from "../../../src/connector/record-schema.ts";
import { clientSnapshot, companySnapshot, supplierSnapshot } from "./clients-and-suppliers.ts";
import { currency, language, unit } from "./lookups.ts";
import { pagedResource, pdfOf, wholeResource } from "./resource-builders.ts";

export const warehouse = t.record({
  id: t.integer(),
  name: t.text(),
  code: t.doc("The company's own code, unique", t.text()),
  inboundNumericalSeriesPattern: t.doc("Pattern of inbound receipt numbers", t.text()),
  inboundNumericalSeriesNextNumber: t.doc("Next number of inbound receipts", t.integer()),
  outboundNumericalSeriesPattern: t.doc("Pattern of outbound receipt numbers", t.text()),
  outboundNumericalSeriesNextNumber: t.doc("Next number of outbound receipts", t.integer()),
});

export const warehouses = wholeResource("warehouses", "Warehouses", { record: warehouse });

const itemStock = t.record({
  warehouseId: t.idOf("warehouses"),
  ...t.each("warehouseName warehouseCode", t.text()),
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
  stocks: t.doc("By warehouse; a list may leave it out", t.children("price_list_item_stocks", itemStock)),
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

const receiptItem = t.record({
  id: t.integer(),
  priceListItemId: t.idOf("price_list_items"),
  priceListItemName: t.doc("Name on the day of the receipt", t.text()),
  ...t.each("priceListItemWarehouseCode unitName", t.orNull(t.text())),
  quantity: t.decimal(),
  unitPrice: t.doc("Without VAT", t.decimal()),
  unitPriceWithVat: t.decimal(),
  vatRate: t.doc("Percent", t.decimal()),
});

const head = {
  id: t.integer(),
  ...t.each("uuid number", t.text()),
  webDokladUrl: t.doc("Public web page of the receipt", t.text()),
  pdfDownloadUrl: t.stated(t.doc("Address of its PDF; data, never followed", t.text())),
  company: t.doc("The company on the day of issue", t.snapshot(companySnapshot)),
  warehouse: t.nested("warehouses", warehouse),
};

const body = {
  currency: t.nested("currencies", currency),
  language: t.nested("languages", language),
  issueDate: t.date(),
  note: t.orNull(t.text()),
  hasVat: t.boolean(),
  total: t.doc("Without VAT", t.decimal()),
  totalWithVat: t.decimal(),
};

export const inboundReceipt = t.record({
  ...head,
  supplierId: t.doc("The live supplier, null once unlinked", t.orNull(t.idOf("suppliers"))),
  supplier: t.doc("The supplier on the day of issue", t.orNull(t.snapshot(supplierSnapshot))),
  ...body,
  items: t.children("warehouse_inbound_receipt_items", receiptItem),
});

export const outboundReceipt = t.record({
  ...head,
  clientId: t.doc("The live client, null once unlinked", t.orNull(t.idOf("clients"))),
  client: t.doc("The client on the day of issue", t.orNull(t.snapshot(clientSnapshot))),
  ...body,
  items: t.children("warehouse_outbound_receipt_items", receiptItem),
});

function receipts(direction: "inbound" | "outbound", record: z.ZodObject, party: string, doc: string) {
  const name = `warehouse_${direction}_receipts`;
  const quick = { latestFirst: { sortBy: "updated_at", sortDirection: "desc" } };
  const details = { record, quick, files: pdfOf(name, party), doc };
  return pagedResource(name, `Warehouse ${direction} receipts`, "created_at", details);
}

export const warehouseReceipts = [
  receipts("inbound", inboundReceipt, "supplier_name", "Goods that came in"),
  receipts("outbound", outboundReceipt, "client_name", "Goods that went out"),
];
