import { dateOf } from "../base/calendar.ts";
import {
  convertCents,
  decimal,
  divide,
  percentOf,
  productCents,
  toCents,
  withVatCents,
} from "../base/decimal-money.ts";
import { documentsOf, type Company, type BookRow } from "../model/company.ts";

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
function discountOf(cents: bigint, { discountType: type, discountValue: value }: BookRow): bigint {
  if (!type || value === null) return 0n;
  if (type === "percentage") return percentOf(cents, decimal(value));
  return cents < 0n ? -toCents(decimal(value)) : toCents(decimal(value));
}

/** A document's payments, newest first; of one day, the one recorded last first. */
export function paymentsOf({ tables }: Company, { kind, id }: Pick<BookRow, "kind" | "id">): BookRow[] {
  const payments = tables.document_payments.findBy("documentId", id);
  const own = payments.filter(({ documentKind }) => documentKind === kind);
  return own.toSorted((a, b) => b.paymentDate.localeCompare(a.paymentDate) || b.id - a.id);
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
export function creditedCents(company: Company, invoiceId: number): bigint {
  const notes = documentsOf(company, "credit-note").findBy("invoiceId", invoiceId);
  return notes.reduce((sum, note) => sum + totalsOf(note).gross, 0n);
}
