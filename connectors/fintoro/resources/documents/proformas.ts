import * as t from "../../../../src/connector/record-schema.ts";
import { bankAccountReference } from "../bank-accounts.ts";
import { documentResource, unpaid } from "../resource-builders.ts";
import * as of from "./document-fields.ts";
import { documentPayment } from "./document-payments.ts";

export const proformaPreview = t.record({
  ...of.previewHead("proformas"),
  ...of.dates,
  ...of.previewTotals,
  ...of.payment,
});

const proformaItem = t.record(of.item(false));

export const proforma = t.record({
  ...of.documentHead("proformas"),
  bankAccount: t.nested("bank_accounts", bankAccountReference),
  payments: t.owned("document_payments", documentPayment),
  variableSymbol: t.integer(),
  ...of.symbols,
  ...of.dates,
  ...of.terms(false),
  ...of.someSettings("deliveryMethodId", "paymentMethodId", "currencyId", "languageId", "qrTypeId"),
  ...of.content,
  alreadyPaid: of.alreadyPaid,
  ...of.totals,
  toBePaid: of.toBePaid,
  willBePaid: t.doc("Payment is still expected", t.boolean()),
  status: of.payment.status,
  hasVat: of.hasVat,
  items: t.children("proforma_items", proformaItem),
});

export const proformas = documentResource("proformas", "Proforma invoices", {
  record: proforma,
  preview: proformaPreview,
  open: unpaid,
});
