import { centsToNumber } from "../base/decimal-money.ts";
import { omit, pick, type JsonObject } from "../base/values.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import { collections, kindFacts } from "../model/catalogue.ts";
import { documentsOf, type Company } from "../model/company-state.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { Document, Payment } from "../model/records.ts";
import { snapshotView } from "../collections/partners.ts";
import { accountReference } from "../collections/own-settings.ts";
import { balanceOf, creditedCents, paymentsOf, totalsOf } from "./balance.ts";

const headFields = ["id", "uuid", "type", "number", "clientId", "issueDate"] as const;
const dateFields = ["dueDate", "deliveryDate", "validityDate"] as const;
const symbolFields = ["variableSymbol", "constantSymbol", "specificSymbol"] as const;
const discountFields = ["discountType", "discountValue", "transferTaxLiability"] as const;
const linkFields = ["businessCaseId", "numericalSeriesId", "currencyId", "languageId"] as const;

/** The fields that every kind and every answer has, and the sums. */
function commonView(company: Company, document: Document, language: Language) {
  const { kind } = document;
  const balance = kindFacts[kind].payable ? balanceOf(company, document) : null;
  const totals = balance?.totals ?? totalsOf(document);
  const common = {
    ...pick(document, headFields),
    client: snapshotView(document.client, language),
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
  const { table, payable, keepsLines, shown } = kindFacts[kind];
  const { common, balance, totals } = commonView(company, document, language);
  const origin = company.settings.publicOrigin;
  const hidden = keepsLines ? [] : (["uuid", "priceListItemId"] as const);
  const items = document.items.map((item, i) => ({
    ...omit(item, hidden),
    total: centsToNumber(totals.items[i]?.net ?? 0n),
    totalWithVat: centsToNumber(totals.items[i]?.gross ?? 0n),
  }));
  return {
    ...common,
    webDokladUrl: `${origin}/web-doklad/${texts[kind].webPath}/${uuid}`,
    pdfDownloadUrl: `${origin}/api/public/v1/${collections[table].path}/${id}/pdf`,
    company: { ...document.company },
    ...(payable && paidView(company, document, language)),
    ...pick(document, [...discountFields, ...linkFields, "note", "textAboveItems", ...shown]),
    itemsTotal: centsToNumber(totals.itemsNet),
    itemsTotalWithVat: centsToNumber(totals.itemsGross),
    ...(balance && kind !== "invoice" && { alreadyPaid: centsToNumber(balance.paid) }),
    ...(kind === "invoice" && { creditNotesSumTotalWithVat: centsToNumber(creditedCents(company, id)) }),
    items,
  };
}

/** What documents that can be paid show beside the others; a deleted account included. */
function paidView(company: Company, document: Document, language: Language) {
  const { tables, closedAccounts } = company;
  const accountId = document.bankAccountId ?? 0;
  const account = tables.bank_accounts.get(accountId) ?? closedAccounts.get(accountId);
  return {
    bankAccount: account ? accountReference(account, language) : null,
    payments: paymentsOf(company, document).map((payment) => paymentView(company, payment, language)),
    ...pick(document, symbolFields),
  };
}

/** A payment, with a preview of the invoice that is its tax document. */
export function paymentView(company: Company, payment: Payment, language: Language): JsonObject {
  const { documentKind: documentType, paymentMethodId, currencyId, amountCents } = payment;
  const receipt = documentsOf(company, "invoice").get(payment.receiptInvoiceId ?? 0);
  return {
    ...pick(payment, ["id", "documentId", "paymentDate", "currencyRate"]),
    documentType,
    paymentMethod: lookup("payment-methods", paymentMethodId, language),
    currency: lookup("currencies", currencyId, language),
    amount: centsToNumber(amountCents),
    receiptInvoice: receipt ? documentPreview(company, receipt, language) : null,
  };
}
