import { amount } from "../base/decimal-money.ts";
import { balanceOf, creditedCents, paymentsOf, type Balance } from "../domain/documents/balance.ts";
import { documentsOf, type Company } from "../domain/company-state.ts";
import { totalsOf, type Amounts, type Totals } from "../domain/documents/document-totals.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import { collections, documentTable } from "../model/catalogue.ts";
import type { Document, DocumentKind, Item, Payment } from "../model/company-records.ts";
import { accountReference } from "./settings-view.ts";
import type { JsonObject } from "../base/values.ts";
import { clientSnapshotView } from "./contact-view.ts";

const webPaths: Readonly<Record<DocumentKind, string>> = {
  invoice: "fa",
  "credit-note": "credit-note",
  proforma: "proforma",
  order: "obj",
  quotation: "cp",
};

const isPaid = (kind: DocumentKind) => kind !== "order" && kind !== "quotation";
const isDelivered = (kind: DocumentKind) => kind === "invoice" || kind === "credit-note";

/** As lists show it. */
export function documentPreview(company: Company, document: Document, language: Language): JsonObject {
  const { kind } = document;
  const balance = isPaid(kind) ? balanceOf(company, document) : null;
  const totals = balance?.totals ?? totalsOf(document);
  return {
    id: document.id,
    uuid: document.uuid,
    type: document.type,
    number: document.number,
    clientId: document.clientId,
    client: clientSnapshotView(document.client, language),
    issueDate: document.issueDate,
    ...(isPaid(kind) && { dueDate: document.dueDate }),
    ...(isDelivered(kind) && { deliveryDate: document.deliveryDate }),
    ...(kind === "quotation" && { validityDate: document.validityDate }),
    currency: lookup("currencies", document.currencyId, language),
    total: amount(totals.net),
    totalWithVat: amount(totals.gross),
    ...(balance && { toBePaid: amount(balance.toBePaid), status: balance.status }),
    ...(kind === "quotation" && { status: document.answer }),
    hasVat: totals.hasVat,
  };
}

export function documentView(company: Company, document: Document, language: Language): JsonObject {
  const { kind } = document;
  const balance = isPaid(kind) ? balanceOf(company, document) : null;
  const totals = balance?.totals ?? totalsOf(document);
  return {
    ...headView(company, document, language),
    ...(isPaid(kind) && moneyView(company, document, language)),
    ...(kind === "credit-note" && { invoiceId: document.invoiceId }),
    issueDate: document.issueDate,
    ...(isPaid(kind) && { dueDate: document.dueDate }),
    ...(isDelivered(kind) && { deliveryDate: document.deliveryDate }),
    ...(kind === "quotation" && { validityDate: document.validityDate }),
    ...termsView(document),
    ...totalsView(company, document, totals, balance),
    items: document.items.map((item, i) => itemView(document, item, totals.items[i])),
  };
}

function headView(company: Company, document: Document, language: Language) {
  const { path } = collections[documentTable[document.kind]];
  const origin = company.settings.publicOrigin;
  return {
    id: document.id,
    uuid: document.uuid,
    type: document.type,
    number: document.number,
    webDokladUrl: `${origin}/web-doklad/${webPaths[document.kind]}/${document.uuid}`,
    pdfDownloadUrl: `${origin}/api/public/v1/${path}/${document.id}/pdf`,
    company: { ...document.company },
    clientId: document.clientId,
    client: clientSnapshotView(document.client, language),
  };
}

function moneyView(company: Company, document: Document, language: Language) {
  const { bankAccountId: id } = document;
  const account =
    id === null ? undefined : (company.tables.bank_accounts.get(id) ?? company.closedAccounts.get(id));
  const payments = paymentsOf(company, document.kind, document.id);
  return {
    bankAccount: account ? accountReference(account, language) : null,
    payments: payments.map((payment) => paymentView(company, payment, language)),
    variableSymbol: document.variableSymbol,
    constantSymbol: document.constantSymbol,
    specificSymbol: document.specificSymbol,
  };
}

function termsView(document: Document) {
  const { kind } = document;
  return {
    businessCaseId: document.businessCaseId,
    discountType: document.discountType,
    discountValue: document.discountValue,
    transferTaxLiability: document.transferTaxLiability,
    numericalSeriesId: document.numericalSeriesId,
    ...(kind !== "credit-note" && kind !== "quotation" && { deliveryMethodId: document.deliveryMethodId }),
    ...(kind !== "quotation" && { paymentMethodId: document.paymentMethodId }),
    currencyId: document.currencyId,
    ...(isDelivered(kind) && { currencyRate: document.currencyRate }),
    languageId: document.languageId,
    ...((kind === "invoice" || kind === "proforma") && { qrTypeId: document.qrTypeId }),
    note: document.note,
    textAboveItems: document.textAboveItems,
  };
}

function totalsView(company: Company, document: Document, totals: Totals, balance: Balance | null) {
  const { kind } = document;
  return {
    itemsTotal: amount(totals.itemsNet),
    itemsTotalWithVat: amount(totals.itemsGross),
    ...(balance && kind !== "invoice" && { alreadyPaid: amount(balance.paid) }),
    total: amount(totals.net),
    totalWithVat: amount(totals.gross),
    ...(balance && { toBePaid: amount(balance.toBePaid) }),
    ...(kind === "proforma" && { willBePaid: document.willBePaid }),
    ...(balance && { status: balance.status }),
    ...(kind === "quotation" && { status: document.answer }),
    hasVat: totals.hasVat,
    ...(kind === "invoice" && { creditNotesSumTotalWithVat: amount(creditedCents(company, document.id)) }),
  };
}

function itemView(document: Document, item: Item, sums: Amounts | undefined) {
  const linked = isDelivered(document.kind);
  return {
    id: item.id,
    ...(linked && { uuid: item.uuid }),
    name: item.name,
    description: item.description,
    unitPrice: item.unitPrice,
    unitId: item.unitId,
    quantity: item.quantity,
    vatRate: item.vatRate,
    discountName: item.discountName,
    discountType: item.discountType,
    discountValue: item.discountValue,
    ...(linked && { priceListItemId: item.priceListItemId }),
    total: amount(sums?.net ?? 0n),
    totalWithVat: amount(sums?.gross ?? 0n),
  };
}

export function paymentView(company: Company, payment: Payment, language: Language): JsonObject {
  const { receiptInvoiceId } = payment;
  const receipt =
    receiptInvoiceId === null ? undefined : documentsOf(company, "invoice").get(receiptInvoiceId);
  return {
    id: payment.id,
    documentType: payment.documentKind,
    documentId: payment.documentId,
    paymentMethod: lookup("payment-methods", payment.paymentMethodId, language),
    currency: lookup("currencies", payment.currencyId, language),
    paymentDate: payment.paymentDate,
    amount: amount(payment.amountCents),
    currencyRate: payment.currencyRate,
    receiptInvoice: receipt ? documentPreview(company, receipt, language) : null,
  };
}
