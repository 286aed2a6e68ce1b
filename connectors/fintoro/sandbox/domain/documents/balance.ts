import { convertCents } from "../../base/decimal-money.ts";
import { dateOf } from "../../base/calendar.ts";
import type { Document, DocumentKind, Payment } from "../../model/company-records.ts";
import { documentKey, documentsOf, type Company } from "../company-state.ts";
import { totalsOf, type Totals } from "./document-totals.ts";

type PaymentStatus = "paid" | "unpaid" | "partially_paid" | "overdue" | "will_not_be_paid";

/** What is paid of a document and what is left, cents in its currency. */
export interface Balance {
  readonly totals: Totals;
  readonly paid: bigint;
  readonly toBePaid: bigint;
  readonly status: PaymentStatus;
}

/** A document's payments, newest first; of one day, the one recorded last first. */
export function paymentsOf({ tables }: Company, kind: DocumentKind, documentId: number): Payment[] {
  const payments = tables.document_payments.findBy("document", documentKey(kind, documentId));
  return payments.toSorted((a, b) => b.paymentDate.localeCompare(a.paymentDate) || b.id - a.id);
}

/** What the payments leave to pay, and the status that follows from it. */
export function balanceOf(company: Company, document: Document): Balance {
  const payments = paymentsOf(company, document.kind, document.id);
  const totals = totalsOf(document);
  const paid = payments.reduce((sum, payment) => sum + worthIn(document, payment), 0n);
  const balance = { totals, paid, toBePaid: totals.gross - paid };
  const today = dateOf(company.settings.today);
  return { ...balance, status: statusOf(document, balance, payments.length > 0, today) };
}

/** The payment in the document's currency; the same currency counts one to one, whatever its rate was. */
function worthIn(document: Document, payment: Payment): bigint {
  if (payment.currencyId === document.currencyId) return payment.amountCents;
  return convertCents(payment.amountCents, payment.currencyRate, document.currencyRate);
}

function statusOf(
  document: Document,
  { totals: { gross }, toBePaid }: Omit<Balance, "status">,
  hasPayments: boolean,
  today: string,
): PaymentStatus {
  const nothingLeft = gross < 0n ? toBePaid >= 0n : toBePaid <= 0n;
  if (nothingLeft && (hasPayments || gross === 0n)) return "paid";
  if (!document.willBePaid) return "will_not_be_paid";
  if (document.dueDate !== null && document.dueDate < today) return "overdue";
  return hasPayments ? "partially_paid" : "unpaid";
}

/** The total of an invoice's credit notes, cents with VAT. */
export function creditedCents(company: Company, invoiceId: number): bigint {
  const notes = documentsOf(company, "credit-note").findBy("invoice", invoiceId);
  return notes.reduce((sum, note) => sum + totalsOf(note).gross, 0n);
}
