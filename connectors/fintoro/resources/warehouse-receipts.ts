import type { z } from "zod";
import { defineResource } from "../../../src/connector/define.ts";
import type { Resource } from "../../../src/connector/resource.ts";
import {
  boolean,
  children,
  date,
  decimal,
  doc,
  idOf,
  integer,
  nested,
  orNull,
  record,
  snapshot,
  stated,
  text,
} from "../../../src/connector/record-schema.ts";
import { currency, language } from "./lookups.ts";
import { clientSnapshot, companySnapshot, supplierSnapshot } from "./party-snapshots.ts";
import { warehouse } from "./warehouses.ts";

const receiptItem = record({
  id: integer(),
  priceListItemId: idOf("price_list_items"),
  priceListItemName: doc("Name on the day of the receipt", text()),
  priceListItemWarehouseCode: orNull(text()),
  unitName: orNull(text()),
  quantity: decimal(),
  unitPrice: doc("Without VAT", decimal()),
  unitPriceWithVat: decimal(),
  vatRate: doc("Percent", decimal()),
});

const head = {
  id: integer(),
  uuid: text(),
  number: text(),
  webDokladUrl: doc("Public web page of the receipt", text()),
  pdfDownloadUrl: stated(doc("Address of its PDF; data, never followed", text())),
  company: doc("The company on the day of issue", snapshot(companySnapshot)),
  warehouse: nested("warehouses", warehouse),
};

const body = {
  currency: nested("currencies", currency),
  language: nested("languages", language),
  issueDate: date(),
  note: orNull(text()),
  hasVat: boolean(),
  total: doc("Without VAT", decimal()),
  totalWithVat: decimal(),
};

export const inboundReceipt = record({
  ...head,
  supplierId: doc("The live supplier, null once unlinked", orNull(idOf("suppliers"))),
  supplier: doc("The supplier on the day of issue", orNull(snapshot(supplierSnapshot))),
  ...body,
  items: children("warehouse_inbound_receipt_items", receiptItem),
});

export const outboundReceipt = record({
  ...head,
  clientId: doc("The live client, null once unlinked", orNull(idOf("clients"))),
  client: doc("The client on the day of issue", orNull(snapshot(clientSnapshot))),
  ...body,
  items: children("warehouse_outbound_receipt_items", receiptItem),
});

function receipts(direction: "inbound" | "outbound", type: z.ZodObject, words: string): Resource {
  const path = `/warehouse-${direction}-receipts`;
  return defineResource({
    name: `warehouse_${direction}_receipts`,
    singular: `warehouse_${direction}_receipt`,
    title: `Warehouse ${direction} receipts`,
    origin: "published",
    record: type,
    list: {
      kind: "paged",
      path,
      perPage: 200,
      params: { sortBy: "created_at", sortDirection: "asc" },
    },
    detail: `${path}/{id}`,
    pdf: `${path}/{id}/pdf`,
    doc: words,
  });
}

export const warehouseInboundReceipts = receipts("inbound", inboundReceipt, "Goods that came in");
export const warehouseOutboundReceipts = receipts("outbound", outboundReceipt, "Goods that went out");
