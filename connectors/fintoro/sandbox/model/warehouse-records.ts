import { z } from "zod";
import { id, number, text, type Filled } from "../rules/request-shape.ts";
import type { CompanySnapshot, DocumentKind } from "./company-records.ts";
import type { ClientSnapshot, Party, Stamped } from "./contact-records.ts";

/** What a request sends of a price-list item; the record has the same fields. */
export const itemShape = z.object({
  name: text().min(1),
  description: text(1000).nullish(),
  unitPrice: number(),
  unitId: id(),
  vatRate: number(0, 23),
  ean: text().nullish(),
  useWarehouse: z.boolean().default(false),
  warehouseCode: text().nullish(),
  enableNegativeStock: z.boolean().default(false),
  maxStock: number(0).nullish(),
  purchasePrice: number().nullish(),
  purchaseVatRate: number(0, 23).nullish(),
});
export type PriceListItem = { readonly id: number } & Readonly<Filled<z.output<typeof itemShape>>>;

/** What a request sends of a warehouse; the record has the same fields. */
export const warehouseShape = z.object({
  name: text().min(1),
  code: text().min(1),
  inboundNumericalSeriesPattern: text().min(1),
  inboundNumericalSeriesNextNumber: z.int().min(1),
  outboundNumericalSeriesPattern: text().min(1),
  outboundNumericalSeriesNextNumber: z.int().min(1),
});
export type Warehouse = { readonly id: number } & Readonly<z.output<typeof warehouseShape>>;

/** What a request sends of a line of a receipt. */
export const receiptLineShape = z.object({
  priceListItemId: id(),
  quantity: number(0.00001),
  unitPrice: number(),
  vatRate: number(0, 100),
});
export type LineInput = Readonly<z.output<typeof receiptLineShape>>;

/** A line of a receipt, with the item's name, code and unit of that time. */
export interface ReceiptLine extends LineInput {
  readonly id: number;
  readonly itemName: string;
  readonly itemCode: string | null;
  readonly unitId: number;
}

/** Goods coming in (partner: a supplier) or going out (partner: a client). */
export interface Receipt extends Stamped {
  readonly id: number;
  readonly uuid: string;
  readonly number: string;
  readonly company: CompanySnapshot;
  readonly warehouseId: number;
  readonly partnerId: number | null;
  readonly partner: Party | ClientSnapshot | null;
  readonly languageId: number;
  readonly issueDate: string;
  readonly note: string | null;
  readonly lines: readonly ReceiptLine[];
  /** The document whose warehouse allocations made it. */
  readonly madeBy: { readonly kind: DocumentKind; readonly id: number } | null;
}
