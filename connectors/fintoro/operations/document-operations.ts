import { z } from "zod";
import { creditNote, creditNotePreview } from "../resources/documents/credit-notes.ts";
import { paymentStatuses, quotationStatuses } from "../resources/documents/document-fields.ts";
import { invoicePreview } from "../resources/documents/invoice-preview.ts";
import { invoice } from "../resources/documents/invoices.ts";
import { order, orderPreview } from "../resources/documents/orders.ts";
import { proforma, proformaPreview } from "../resources/documents/proformas.ts";
import { quotation, quotationPreview } from "../resources/documents/quotations.ts";
import * as op from "./operation-builders.ts";
import * as of from "./document-inputs.ts";
import { amount, constantSymbol, day, id, maybe, sorted, variableSymbol, characters } from "./input-types.ts";

const paidFilters = {
  ...of.documentFilters,
  paymentStatus: z.enum(paymentStatuses).optional(),
  ...of.issueRange,
  ...of.dueRange,
  ...of.totalRange,
};
const flag = z.boolean().optional();

const invoiceShape = {
  ...of.common,
  proformaId: maybe(id),
  orderId: maybe(id),
  quotationId: maybe(id),
  ...of.payable,
  deliveryDate: day.optional(),
  ...of.methods,
  currencyRate: of.currencyRate.optional(),
};
const invoiceInput = z.strictObject({ ...invoiceShape, items: of.stockedItems }).refine(...of.needsClient);
const invoiceUpdate = z.strictObject({ ...invoiceShape, items: of.keptItems }).refine(...of.needsClient);

/** The service takes everything else from the invoice. */
const creditOfInvoice = z.strictObject({
  number: characters(20, 1).optional(),
  numericalSeriesId: maybe(id),
  issueDate: day.optional(),
  dueDate: day.optional(),
  deliveryDate: day.optional(),
  ...of.texts,
});

/** The client is always that of the corrected invoice. */
const creditNoteShape = {
  invoiceId: id,
  businessCaseId: maybe(id),
  number: characters(20, 1),
  numericalSeriesId: maybe(id),
  issueDate: day,
  dueDate: day,
  deliveryDate: day,
  bankAccountId: id,
  variableSymbol,
  constantSymbol: maybe(constantSymbol),
  specificSymbol: maybe(variableSymbol),
  discountType: of.discountType,
  discountValue: maybe(amount()),
  transferTaxLiability: z.boolean(),
  paymentMethodId: id,
  currencyId: id,
  currencyRate: of.currencyRate,
  languageId: id,
  ...of.texts,
};
const creditNoteInput = z.strictObject({ ...creditNoteShape, items: of.stockedItems });
const creditNoteUpdate = z.strictObject({ ...creditNoteShape, items: of.keptItems });

const paidSort = sorted(["number", "issueDate", "dueDate", "total", "totalWithVat"]);

const proformaInput = z
  .strictObject({
    ...of.common,
    orderId: maybe(id),
    quotationId: maybe(id),
    ...of.payable,
    ...of.methods,
    items: of.stockedItems,
  })
  .refine(...of.needsClient);

const orderInput = z
  .strictObject({ ...of.common, quotationId: maybe(id), ...of.methods, items: of.plainItems })
  .refine(...of.needsClient);

const quotationInput = z
  .strictObject({ ...of.common, validityDate: maybe(day), items: of.plainItems })
  .refine(...of.needsClient);

export const documentOperations = {
  invoices: {
    list: op.pagedList("/invoices", invoicePreview, 500, {
      ...paidFilters,
      ...sorted(["number", "issueDate", "dueDate", "deliveryDate", "totalWithVatEur"]),
    }),
    ...op.records("/invoices", "invoice", invoice, invoiceInput),
    update: op.writeRecord("PUT", "/invoices/{invoice}", invoiceUpdate, invoice),
    createCreditNote: op.create("/invoices/{invoice}/credit-notes", creditOfInvoice, creditNote),
    pdf: op.pdf("/invoices/{invoice}/pdf"),
  },
  creditNotes: {
    list: op.pagedList("/credit-notes", creditNotePreview, 500, { ...paidFilters, ...paidSort }),
    ...op.records("/credit-notes", "creditNote", creditNote, creditNoteInput),
    update: op.writeRecord("PUT", "/credit-notes/{creditNote}", creditNoteUpdate, creditNote),
    pdf: op.pdf("/credit-notes/{creditNote}/pdf"),
  },
  proformas: {
    list: op.pagedList("/proformas", proformaPreview, 500, {
      ...paidFilters,
      withoutInvoice: flag,
      ...paidSort,
    }),
    ...op.records("/proformas", "proforma", proforma, proformaInput),
    pdf: op.pdf("/proformas/{proforma}/pdf"),
  },
  orders: {
    list: op.pagedList("/orders", orderPreview, 500, {
      ...of.documentFilters,
      ...of.issueRange,
      ...of.totalRange,
      withoutInvoice: flag,
      withoutProforma: flag,
      ...sorted(["number", "issueDate", "total", "totalWithVat"]),
    }),
    ...op.records("/orders", "order", order, orderInput),
    pdf: op.pdf("/orders/{order}/pdf"),
  },
  quotations: {
    list: op.pagedList("/quotations", quotationPreview, 500, {
      ...of.documentFilters,
      ...of.issueRange,
      validityDateFrom: day.optional(),
      validityDateTo: day.optional(),
      status: z.enum(quotationStatuses).optional(),
      ...of.totalRange,
      withoutInvoice: flag,
      withoutProforma: flag,
      withoutOrder: flag,
      ...sorted(["number", "issueDate", "validityDate", "total", "totalWithVat"]),
    }),
    ...op.records("/quotations", "quotation", quotation, quotationInput),
    pdf: op.pdf("/quotations/{quotation}/pdf"),
  },
};
