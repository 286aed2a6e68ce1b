import { z } from "zod";
import { everyKey } from "../base/values.ts";
import type { Company } from "../model/company-state.ts";
import type { Document, DocumentKind } from "../model/records.ts";
import { clientDraft } from "../collections/partners.ts";
import { choice, date, id, number, symbol, text } from "../rules/request-shape.ts";

const discountType = z.enum(["percentage", "fixed"]).nullish();
const quantity = number(0.00001, 1_000_000);
const currencyRate = number(0.00001, 10_000_000);

const itemShape = z.object({
  uuid: z.uuid().nullish(),
  name: text().min(1).nullish(),
  description: text(1000).nullish(),
  ...everyKey(["unitPrice", "discountValue"], number().nullish()),
  unitId: choice("units").nullish(),
  quantity,
  vatRate: number(0, 23).nullish(),
  discountType,
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
  ...everyKey(["businessCaseId", "numericalSeriesId"], id().nullish()),
  discountType,
  ...everyKey(["note", "textAboveItems"], text(3000).nullish()),
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
  currencyId: choice("currencies").optional(),
  languageId: choice("languages").optional(),
});

const methods = {
  deliveryMethodId: choice("delivery-methods").optional(),
  paymentMethodId: choice("payment-methods").optional(),
};
const symbols = { constantSymbol: symbol(4).nullish(), specificSymbol: symbol(10).nullish() };
const payable = {
  ...methods,
  ...symbols,
  bankAccountId: id().optional(),
  dueDateDays: z.int().min(0).max(1000).optional(),
  variableSymbol: symbol(10).optional(),
  qrTypeId: choice("qr-types").optional(),
  ...everyKey(["orderId", "quotationId"], id().nullish()),
};

/** What each kind of document may send, and what it must. */
export const shapes = {
  invoice: common.extend({
    ...payable,
    proformaId: id().nullish(),
    deliveryDate: date().optional(),
    currencyRate: currencyRate.optional(),
  }),
  "credit-note": z.object({
    ...shared,
    ...symbols,
    ...everyKey(["invoiceId", "bankAccountId"], id()),
    number: text(20).min(1),
    ...everyKey(["issueDate", "dueDate", "deliveryDate"], date()),
    variableSymbol: symbol(10),
    discountValue: z.number().nullish(),
    transferTaxLiability: z.boolean(),
    paymentMethodId: choice("payment-methods"),
    currencyId: choice("currencies"),
    currencyRate,
    languageId: choice("languages"),
  }),
  proforma: common.extend(payable),
  order: common.extend({ ...methods, quotationId: id().nullish() }),
  quotation: common.extend({ validityDate: date().nullish() }),
} satisfies Record<DocumentKind, z.ZodType>;

/** All that any kind may send; a kind that does not have a field never has a value in it. */
export const anyShape = shapes.invoice.extend({
  invoiceId: id().optional(),
  dueDate: date().optional(),
  validityDate: date().nullish(),
});
export type DocumentInput = z.output<typeof anyShape>;

/** A request that credits a whole invoice. */
export const creditShape = z.object({
  number: text(20).min(1).optional(),
  numericalSeriesId: id().nullish(),
  ...everyKey(["issueDate", "dueDate", "deliveryDate"], date().optional()),
  ...everyKey(["note", "textAboveItems"], text(3000).nullish()),
});

/** One write of a document: what was sent, and the document that it replaces. */
export interface DocumentWrite {
  readonly company: Company;
  readonly kind: DocumentKind;
  readonly sent: DocumentInput;
  readonly own: Document | null;
}
