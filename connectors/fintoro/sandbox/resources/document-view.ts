import { centsToNumber } from "../base/decimal-money.ts";
import { omit, pick, nameList, type AnsweredRecord } from "../base/values.ts";
import { lookup, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import { kindFacts, pathOf } from "../model/catalogue.ts";
import { publicOrigin, type Company, type BookRow } from "../model/company.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import { balanceOf, creditedCents, paymentsOf, totalsOf } from "./balance.ts";
import { accountReference } from "./own-settings.ts";
import { snapshotView } from "./partners.ts";

function commonView(company: Company, document: BookRow, language: ServiceLanguage) {
  const { kind } = document;
  const balance = kindFacts[kind].payable ? balanceOf(company, document) : null;
  const totals = balance?.totals ?? totalsOf(document);
  const common = {
    ...pick(document, ["id", "uuid", "type", "number", "clientId", "issueDate"]),
    client: snapshotView(document.client, language),
    total: centsToNumber(totals.net),
    totalWithVat: centsToNumber(totals.gross),
    ...(balance && { toBePaid: centsToNumber(balance.toBePaid), status: balance.status }),
    ...(kind === "quotation" && { status: document.status }),
    hasVat: totals.hasVat,
  };
  return { common, balance, totals };
}

export function documentPreview(company: Company, document: BookRow, language: ServiceLanguage) {
  const dates = (["dueDate", "deliveryDate", "validityDate"] as const).filter((field) =>
    kindFacts[document.kind].shown.includes(field),
  );
  return {
    ...commonView(company, document, language).common,
    ...pick(document, dates),
    currency: lookup("currencies", document.currencyId, language),
  };
}

const terms = nameList(
  "company discountType discountValue transferTaxLiability businessCaseId numericalSeriesId currencyId languageId note textAboveItems",
);

/** A document as its own route shows it. */
export function documentView(company: Company, document: BookRow, language: ServiceLanguage): AnsweredRecord {
  const { kind, id, uuid } = document;
  const { table, payable, keepsLines, shown } = kindFacts[kind];
  const { common, balance, totals } = commonView(company, document, language);
  return {
    ...common,
    webDokladUrl: `${publicOrigin}/web-doklad/${texts[kind].webPath}/${uuid}`,
    pdfDownloadUrl: `${publicOrigin}/api/public/v1/${pathOf(table)}/${id}/pdf`,
    ...(payable && paidView(company, document, language)),
    ...pick(document, [...terms, ...shown]),
    itemsTotal: centsToNumber(totals.itemsNet),
    itemsTotalWithVat: centsToNumber(totals.itemsGross),
    ...(balance && kind !== "invoice" && { alreadyPaid: centsToNumber(balance.paid) }),
    ...(kind === "invoice" && { creditNotesSumTotalWithVat: centsToNumber(creditedCents(company, id)) }),
    items: document.items.map((item, i) => ({
      ...omit(item, keepsLines ? [] : ["uuid", "priceListItemId"]),
      total: centsToNumber(totals.items[i]?.net ?? 0n),
      totalWithVat: centsToNumber(totals.items[i]?.gross ?? 0n),
    })),
  };
}

/** What documents that can be paid show beside the others; a deleted account included. */
function paidView(company: Company, document: BookRow, language: ServiceLanguage) {
  const { tables, closedAccounts } = company;
  const accountId = document.bankAccountId ?? 0;
  const account = tables.bank_accounts.get(accountId) ?? closedAccounts.get(accountId);
  return {
    bankAccount: account ? accountReference(account, language) : null,
    payments: paymentsOf(company, document).map((payment) => paymentView(company, payment, language)),
    ...pick(document, ["variableSymbol", "constantSymbol", "specificSymbol"]),
  };
}

/** A payment, with a preview of the invoice that is its tax document. */
export function paymentView(company: Company, payment: BookRow, language: ServiceLanguage): AnsweredRecord {
  const receipt = company.tables.invoices.get(payment.receiptInvoiceId);
  return {
    ...pick(payment, ["id", "documentId", "paymentDate", "currencyRate"]),
    documentType: payment.documentKind,
    paymentMethod: lookup("payment-methods", payment.paymentMethodId, language),
    currency: lookup("currencies", payment.currencyId, language),
    amount: centsToNumber(payment.amountCents),
    receiptInvoice: receipt ? documentPreview(company, receipt, language) : null,
  };
}
