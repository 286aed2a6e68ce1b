import { centsToNumber } from "../base/decimal-money.ts";
import { omit, pick, type JsonObject } from "../base/values.ts";
import { documentsOf, type Company } from "../domain/company-state.ts";
import { balanceOf, creditedCents, paymentsOf } from "../domain/documents/payment-rules.ts";
import { totalsOf, type Amounts } from "../domain/documents/totals.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import { collections, kindFacts } from "../model/catalogue.ts";
import type { Document, DocumentKind, Item, Payment } from "../model/company-records.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import { clientSnapshotView } from "./contact-view.ts";
import { accountReference } from "./settings-view.ts";

const headFields = ["id", "uuid", "type", "number", "clientId", "issueDate"] as const;
const dateFields = ["dueDate", "deliveryDate", "validityDate"] as const;
const symbolFields = ["variableSymbol", "constantSymbol", "specificSymbol"] as const;
const termFields = [
  "businessCaseId",
  "discountType",
  "discountValue",
  "transferTaxLiability",
  "numericalSeriesId",
  "currencyId",
  "languageId",
  "note",
  "textAboveItems",
] as const;

/** The fields that every kind and every answer has, and the sums. */
function commonView(company: Company, document: Document, language: Language) {
  const { kind } = document;
  const balance = kindFacts[kind].payable ? balanceOf(company, document) : null;
  const totals = balance?.totals ?? totalsOf(document);
  const common = {
    ...pick(document, headFields),
    client: clientSnapshotView(document.client, language),
    total: centsToNumber(totals.net),
    totalWithVat: centsToNumber(totals.gross),
    ...(balance && { toBePaid: centsToNumber(balance.toBePaid), status: balance.status }),
    ...(kind === "quotation" && { status: document.answer }),
    hasVat: totals.hasVat,
  };
  return { common, balance, totals };
}

/** A document as lists show it. */
export function documentPreview(company: Company, document: Document, language: Language): JsonObject {
  const { shown } = kindFacts[document.kind];
  return {
    ...commonView(company, document, language).common,
    ...pick(
      document,
      dateFields.filter((field) => shown.includes(field)),
    ),
    currency: lookup("currencies", document.currencyId, language),
  };
}

/** A document as its own route shows it. */
export function documentView(company: Company, document: Document, language: Language): JsonObject {
  const { kind, id, uuid } = document;
  const { table, payable, shown } = kindFacts[kind];
  const { common, balance, totals } = commonView(company, document, language);
  const origin = company.settings.publicOrigin;
  return {
    ...common,
    webDokladUrl: `${origin}/web-doklad/${texts[kind].webPath}/${uuid}`,
    pdfDownloadUrl: `${origin}/api/public/v1/${collections[table].path}/${id}/pdf`,
    company: { ...document.company },
    ...(payable && paidView(company, document, language)),
    ...pick(document, termFields),
    ...pick(document, shown),
    itemsTotal: centsToNumber(totals.itemsNet),
    itemsTotalWithVat: centsToNumber(totals.itemsGross),
    ...(balance && kind !== "invoice" && { alreadyPaid: centsToNumber(balance.paid) }),
    ...(kind === "invoice" && { creditNotesSumTotalWithVat: centsToNumber(creditedCents(company, id)) }),
    items: document.items.map((item, i) => itemView(kind, item, totals.items[i])),
  };
}

/** What documents that can be paid show beside the others; a deleted account included. */
function paidView(company: Company, document: Document, language: Language) {
  const { bankAccountId: accountId } = document;
  const account =
    company.tables.bank_accounts.get(accountId ?? 0) ?? company.closedAccounts.get(accountId ?? 0);
  const payments = paymentsOf(company, document.kind, document.id);
  return {
    bankAccount: account ? accountReference(account, language) : null,
    payments: payments.map((payment) => paymentView(company, payment, language)),
    ...pick(document, symbolFields),
  };
}

function itemView(kind: DocumentKind, item: Item, sums: Amounts | undefined) {
  const hidden = kindFacts[kind].movesStock ? [] : (["uuid", "priceListItemId"] as const);
  return {
    ...omit(item, ["allocations", ...hidden]),
    total: centsToNumber(sums?.net ?? 0n),
    totalWithVat: centsToNumber(sums?.gross ?? 0n),
  };
}

/** A payment, with a preview of the invoice that is its tax document. */
export function paymentView(company: Company, payment: Payment, language: Language): JsonObject {
  const { id, documentId, documentKind: documentType, paymentDate, currencyRate } = payment;
  const receipt = documentsOf(company, "invoice").get(payment.receiptInvoiceId ?? 0);
  return {
    id,
    documentType,
    documentId,
    paymentDate,
    currencyRate,
    paymentMethod: lookup("payment-methods", payment.paymentMethodId, language),
    currency: lookup("currencies", payment.currencyId, language),
    amount: centsToNumber(payment.amountCents),
    receiptInvoice: receipt ? documentPreview(company, receipt, language) : null,
  };
}
