import { date, record } from "../../../../src/connector/record-schema.ts";
import { dates, hasVat, paymentStatus, previewHead, previewTotals, toBePaid } from "./document-fields.ts";

/** Apart from invoices.ts because payments show the invoice that receipts them. */
export const invoicePreview = record({
  ...previewHead,
  ...dates,
  deliveryDate: date(),
  ...previewTotals,
  toBePaid,
  status: paymentStatus(),
  hasVat,
});
