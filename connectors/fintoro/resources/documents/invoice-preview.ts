import * as t from "../../../../src/connector/record-schema.ts";
import { dates, payment, previewHead, previewTotals } from "./document-fields.ts";

/** In a file of its own because payments show an invoice, and invoices show their payments. */
export const invoicePreview = t.record({
  ...previewHead("invoices"),
  ...dates,
  deliveryDate: t.date(),
  ...previewTotals,
  ...payment,
});
