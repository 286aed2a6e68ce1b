import { z } from "zod";
import type { Document, DocumentKind } from "../../model/company-records.ts";
import { date, id, number, symbol, text } from "../../rules/request-shape.ts";
import type { Company } from "../company-state.ts";
import { clientDraft } from "../crm/contact-rules.ts";

const discountType = z.enum(["percentage", "fixed"]);
const quantity = number(0.00001, 1_000_000);
const currencyRate = number(0.00001, 10_000_000);

const itemShape = z.object({
  uuid: z.uuid().nullish(),
  name: text().min(1).nullish(),
  description: text(1000).nullish(),
  unitPrice: number().nullish(),
  unitId: id().nullish(),
  quantity,
  vatRate: number(0, 23).nullish(),
  discountType: discountType.nullish(),
  discountValue: number().nullish(),
  discountName: text().nullish(),
  priceListItemId: id().nullish(),
  warehouseAllocations: z
    .array(z.object({ warehouseId: id(), quantity }))
    .min(1)
    .max(50)
    .optional(),
});
/** A line as requests send it. */
export type ItemInput = z.output<typeof itemShape>;

const shared = {
  businessCaseId: id().nullish(),
  numericalSeriesId: id().nullish(),
  discountType: discountType.nullish(),
  note: text(3000).nullish(),
  textAboveItems: text(3000).nullish(),
  items: z.array(itemShape).min(1).max(100),
};

/** What invoices, proformas, orders and quotations share; nearly everything may be left out. */
const common = z.object({
  ...shared,
  number: text(20).min(1).nullish(),
  clientId: id().nullish(),
  client: clientDraft.nullish(),
  issueDate: date().optional(),
  discountValue: z.number().min(0).nullish(),
  transferTaxLiability: z.boolean().optional(),
  currencyId: id().optional(),
  languageId: id().optional(),
});

const methods = { deliveryMethodId: id().optional(), paymentMethodId: id().optional() };
const symbols = { constantSymbol: symbol(4).nullish(), specificSymbol: symbol(10).nullish() };
const payable = {
  ...methods,
  ...symbols,
  bankAccountId: id().optional(),
  dueDateDays: z.int().min(0).max(1000).optional(),
  variableSymbol: symbol(10).optional(),
  qrTypeId: id().optional(),
  orderId: id().nullish(),
  quotationId: id().nullish(),
};

/** What each kind of document may send, and what it must. */
const shapes = {
  invoice: common.extend({
    ...payable,
    proformaId: id().nullish(),
    deliveryDate: date().optional(),
    currencyRate: currencyRate.optional(),
  }),
  "credit-note": z.object({
    ...shared,
    ...symbols,
    invoiceId: id(),
    number: text(20).min(1),
    issueDate: date(),
    dueDate: date(),
    deliveryDate: date(),
    bankAccountId: id(),
    variableSymbol: symbol(10),
    discountValue: z.number().nullish(),
    transferTaxLiability: z.boolean(),
    paymentMethodId: id(),
    currencyId: id(),
    currencyRate,
    languageId: id(),
  }),
  proforma: common.extend(payable),
  order: common.extend({ ...methods, quotationId: id().nullish() }),
  quotation: common.extend({ validityDate: date().nullish() }),
} satisfies Record<DocumentKind, z.ZodType>;

/** All that any kind may send; a kind that does not have a field never has a value in it. */
export type DocumentInput = z.output<typeof shapes.invoice> &
  Pick<Partial<z.output<(typeof shapes)["credit-note"]>>, "invoiceId" | "dueDate"> &
  Pick<z.output<typeof shapes.quotation>, "validityDate">;

/** The schema of a request that creates or replaces a document of the kind. */
export function documentShape(kind: DocumentKind): z.ZodType<DocumentInput> {
  return shapes[kind];
}

/** A request that credits a whole invoice. */
export const creditShape = z.object({
  number: text(20).min(1).optional(),
  numericalSeriesId: id().nullish(),
  issueDate: date().optional(),
  dueDate: date().optional(),
  deliveryDate: date().optional(),
  note: text(3000).nullish(),
  textAboveItems: text(3000).nullish(),
});

/** One write of a document: what was sent, and the document that it replaces. */
export interface DocumentWrite {
  readonly company: Company;
  readonly kind: DocumentKind;
  readonly sent: DocumentInput;
  readonly own: Document | null;
}
