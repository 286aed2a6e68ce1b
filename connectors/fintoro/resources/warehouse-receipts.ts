import type { z } from "zod";
import type { Resource } from "../../../src/connector/resource.ts";
import * as t from "../../../src/connector/record-schema.ts";
import { currency, language } from "./lookups.ts";
import { clientSnapshot, companySnapshot, supplierSnapshot } from "./party-snapshots.ts";
import { pagedResource, pdfOf } from "./resource-builders.ts";
import { warehouse } from "./warehouses.ts";

const receiptItem = t.record({
  id: t.integer(),
  priceListItemId: t.idOf("price_list_items"),
  priceListItemName: t.doc("Name on the day of the receipt", t.text()),
  priceListItemWarehouseCode: t.orNull(t.text()),
  unitName: t.orNull(t.text()),
  quantity: t.decimal(),
  unitPrice: t.doc("Without VAT", t.decimal()),
  unitPriceWithVat: t.decimal(),
  vatRate: t.doc("Percent", t.decimal()),
});

const head = {
  id: t.integer(),
  uuid: t.text(),
  number: t.text(),
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

function receipts(direction: "inbound" | "outbound", type: z.ZodObject, words: string): Resource {
  const title = `Warehouse ${direction} receipts`;
  const name = `warehouse_${direction}_receipts`;
  return pagedResource(name, title, "created_at", {
    record: type,
    quick: { latestFirst: { sortBy: "updated_at", sortDirection: "desc" } },
    files: pdfOf(name, direction === "inbound" ? "supplier_name" : "client_name"),
    doc: words,
  });
}

export const warehouseInboundReceipts = receipts("inbound", inboundReceipt, "Goods that came in");
export const warehouseOutboundReceipts = receipts("outbound", outboundReceipt, "Goods that went out");
