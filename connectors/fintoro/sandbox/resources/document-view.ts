import { dateOf } from "../base/calendar.ts";
import {
  centsToNumber,
  convertCents,
  decimal,
  divide,
  percentOf,
  productCents,
  toCents,
  withVatCents,
} from "../base/decimal-money.ts";
import { omit, pick, type AnsweredRecord } from "../base/values.ts";
import { lookup, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import { kindFacts, pathOf } from "../model/catalogue.ts";
import { documentsOf, ownerKey, publicOrigin, type Company } from "../model/company.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { BookRow, Discount } from "../model/row.ts";
import { accountReference } from "./own-settings.ts";
import { snapshotView } from "./partners.ts";

/**
 * The sums of a document in cents: of each line, of the lines together, and after the document's discount. A line
 * is price x quantity less its discount, VAT on the rounded net, none under reverse charge. The document's
 * discount lowers net and gross in proportion.
 */
export function totalsOf(document: BookRow) {
  const { discountType, transferTaxLiability: isReverse } = document;
  const items = document.items.map((item) => {
    const full = productCents(decimal(item.unitPrice), decimal(item.quantity));
    const net = full - discountOf(full, item);
    return { net, gross: isReverse ? net : withVatCents(net, item.vatRate) };
  });
  const itemsNet = items.reduce((sum, { net }) => sum + net, 0n);
  const itemsGross = items.reduce((sum, { gross }) => sum + gross, 0n);
  const discount = discountOf(itemsNet, document);
  const inProportion = itemsNet === 0n ? discount : divide(discount * itemsGross, itemsNet);
  const grossDiscount = discountType === "percentage" ? discountOf(itemsGross, document) : inProportion;
  const hasVat = document.items.some((item) => item.vatRate > 0) && !isReverse;
  return { items, itemsNet, itemsGross, net: itemsNet - discount, gross: itemsGross - grossDiscount, hasVat };
}

/** A fixed discount makes an amount smaller, whichever sign it has. */
function discountOf(cents: bigint, { discountType: type, discountValue: value }: Discount): bigint {
  if (!type || value === null) return 0n;
  if (type === "percentage") return percentOf(cents, decimal(value));
  return cents < 0n ? -toCents(decimal(value)) : toCents(decimal(value));
}

/** A document's payments, newest first; of one day, the one recorded last first. */
export function paymentsOf({ tables }: Company, { kind, id }: Pick<BookRow, "kind" | "id">): BookRow[] {
  const payments = tables.document_payments.findBy("document", ownerKey(kind, id));
  return payments.toSorted((a, b) => b.paymentDate.localeCompare(a.paymentDate) || b.id - a.id);
}

/** What the payments leave to pay, cents in the document's currency, and the status that follows from it. */
export function balanceOf(company: Company, document: BookRow, payments = paymentsOf(company, document)) {
  const totals = totalsOf(document);
  const paid = payments.reduce((sum, payment) => sum + worthIn(document, payment), 0n);
  const toBePaid = totals.gross - paid;
  const nothingLeft = totals.gross < 0n ? toBePaid >= 0n : toBePaid <= 0n;
  const status = () => {
    if (nothingLeft && (payments.length > 0 || totals.gross === 0n)) return "paid";
    if (!document.willBePaid) return "will_not_be_paid";
    if (document.dueDate !== null && document.dueDate < dateOf(company.today)) return "overdue";
    return payments.length > 0 ? "partially_paid" : "unpaid";
  };
  return { totals, paid, toBePaid, status: status() };
}

/** The payment in the document's currency; the same currency counts one to one, whatever its rate was. */
function worthIn(document: BookRow, { currencyId, amountCents, currencyRate }: BookRow): bigint {
  if (currencyId === document.currencyId) return amountCents;
  return convertCents(amountCents, currencyRate, document.currencyRate);
}

/** The total of an invoice's credit notes, cents with VAT. */
function creditedCents(company: Company, invoiceId: number): bigint {
  const notes = documentsOf(company, "credit-note").findBy("invoice", invoiceId);
  return notes.reduce((sum, note) => sum + totalsOf(note).gross, 0n);
}

/** The fields that every kind and every answer has, and the sums. */
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
    ...(kind === "quotation" && { status: document.answer }),
    hasVat: totals.hasVat,
  };
  return { common, balance, totals };
}

/** A document as lists show it. */
export function documentPreview(
  company: Company,
  document: BookRow,
  language: ServiceLanguage,
): AnsweredRecord {
  const dates = (["dueDate", "deliveryDate", "validityDate"] as const).filter((field) =>
    kindFacts[document.kind].shown.includes(field),
  );
  return {
    ...commonView(company, document, language).common,
    ...pick(document, dates),
    currency: lookup("currencies", document.currencyId, language),
  };
}

/** What every kind shows of its terms. */
const terms =
  "company discountType discountValue transferTaxLiability businessCaseId numericalSeriesId currencyId languageId note textAboveItems".split(
    " ",
  ) as (keyof BookRow)[];

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
