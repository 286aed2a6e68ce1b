import { z } from "zod";
import type { DocumentKind } from "../../model/company-records.ts";
import { date, id, number, text } from "../../rules/request-shape.ts";
import { clientDraft } from "../crm/contacts.ts";

const discountType = z.enum(["percentage", "fixed"]);
const symbol = (most: number) => z.int().min(0).max(most);

const allocation = z.object({ warehouseId: id(), quantity: number(0.00001, 1_000_000) });

const itemShape = z.object({
  uuid: z.uuid().nullish(),
  name: text().min(1).nullish(),
  description: text(1000).nullish(),
  unitPrice: number().nullish(),
  unitId: id().nullish(),
  quantity: number(0.00001, 1_000_000),
  vatRate: number(0, 23).nullish(),
  discountType: discountType.nullish(),
  discountValue: number().nullish(),
  discountName: text().nullish(),
  priceListItemId: id().nullish(),
  warehouseAllocations: z.array(allocation).min(1).max(50).optional(),
});
export type ItemInput = z.output<typeof itemShape>;

const items = z.array(itemShape).min(1).max(100);

/** What invoices, proformas, orders and quotations share; nearly everything may be left out. */
const common = z.object({
  number: text(20).min(1).nullish(),
  clientId: id().nullish(),
  client: clientDraft.nullish(),
  businessCaseId: id().nullish(),
  numericalSeriesId: id().nullish(),
  issueDate: date().optional(),
  discountType: discountType.nullish(),
  discountValue: z.number().min(0).nullish(),
  transferTaxLiability: z.boolean().optional(),
  currencyId: id().optional(),
  languageId: id().optional(),
  note: text(3000).nullish(),
  textAboveItems: text(3000).nullish(),
  items,
});

const delivered = { deliveryMethodId: id().optional(), paymentMethodId: id().optional() };
const payable = {
  ...delivered,
  bankAccountId: id().optional(),
  dueDateDays: z.int().min(0).max(1000).optional(),
  variableSymbol: symbol(9_999_999_999).optional(),
  constantSymbol: symbol(9_999).nullish(),
  specificSymbol: symbol(9_999_999_999).nullish(),
  qrTypeId: id().optional(),
};
const fromOrder = { orderId: id().nullish(), quotationId: id().nullish() };

const shapes = {
  invoice: common.extend({
    ...payable,
    ...fromOrder,
    proformaId: id().nullish(),
    deliveryDate: date().optional(),
    currencyRate: number(0.00001, 10_000_000).optional(),
  }),
  proforma: common.extend({ ...payable, ...fromOrder }),
  order: common.extend({ ...delivered, quotationId: id().nullish() }),
  quotation: common.extend({ validityDate: date().nullish() }),
};

export type FlowKind = keyof typeof shapes;

/** All that any of the four kinds may send; a kind that has not a field never has a value in it. */
export type DocumentInput = z.output<typeof shapes.invoice> &
  Partial<z.output<typeof shapes.quotation>> & { readonly items: readonly ItemInput[] };

export function documentShape(kind: FlowKind): z.ZodType<DocumentInput> {
  return shapes[kind];
}

export const creditNoteShape = z.object({
  invoiceId: id(),
  businessCaseId: id().nullish(),
  number: text(20).min(1),
  numericalSeriesId: id().nullish(),
  issueDate: date(),
  dueDate: date(),
  deliveryDate: date(),
  bankAccountId: id(),
  variableSymbol: symbol(9_999_999_999),
  constantSymbol: symbol(9_999).nullish(),
  specificSymbol: symbol(9_999_999_999).nullish(),
  discountType: discountType.nullish(),
  discountValue: z.number().nullish(),
  transferTaxLiability: z.boolean(),
  paymentMethodId: id(),
  currencyId: id(),
  currencyRate: number(0.00001, 10_000_000),
  languageId: id(),
  note: text(3000).nullish(),
  textAboveItems: text(3000).nullish(),
  items,
});

export const shortcutShape = z.object({
  number: text(20).min(1).optional(),
  numericalSeriesId: id().nullish(),
  issueDate: date().optional(),
  dueDate: date().optional(),
  deliveryDate: date().optional(),
  note: text(3000).nullish(),
  textAboveItems: text(3000).nullish(),
});

export function isFlow(kind: DocumentKind): kind is FlowKind {
  return kind !== "credit-note";
}
