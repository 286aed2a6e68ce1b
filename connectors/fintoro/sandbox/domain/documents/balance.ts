import { convertCents } from "../../base/decimal-money.ts";
import { dateOf } from "../../base/calendar.ts";
import type { Document, DocumentKind, Payment } from "../../model/company-records.ts";
import { documentsOf, type Company } from "../company-state.ts";
import { totalsOf, type Totals } from "./document-totals.ts";

type PaymentStatus = "paid" | "unpaid" | "partially_paid" | "overdue" | "will_not_be_paid";

export interface Balance {
  readonly totals: Totals;
  readonly paid: bigint;
  readonly toBePaid: bigint;
  readonly status: PaymentStatus;
}

/** Newest first; of one day, the one recorded last first. */
export function paymentsOf(company: Company, kind: DocumentKind, documentId: number): Payment[] {
  const [from, to] = company.paymentBook.rangeOf(kind, documentId);
  const seeded = Array.from({ length: to - from }, (_, i) => from + i);
  const added = company.newPayments.get(`${kind}:${documentId}`) ?? [];
  return [...seeded, ...added]
    .map((id) => company.tables.document_payments.get(id))
    .filter((payment) => payment !== undefined)
    .toSorted((a, b) =>
      a.paymentDate < b.paymentDate ? 1 : a.paymentDate > b.paymentDate ? -1 : b.id - a.id,
    );
}

export function balanceOf(company: Company, document: Document): Balance {
  return settle(document, paymentsOf(company, document.kind, document.id), dateOf(company.settings.today));
}

/** What the payments leave to pay, in the document's currency, and what the books call that. */
function settle(document: Document, payments: readonly Payment[], today: string): Balance {
  const totals = totalsOf(document);
  const paid = payments.reduce((sum, payment) => sum + worthIn(document, payment), 0n);
  const toBePaid = totals.gross - paid;
  return {
    totals,
    paid,
    toBePaid,
    status: statusOf(document, toBePaid, totals.gross, payments.length > 0, today),
  };
}

/** The same currency counts one to one, whatever its rate was on the day of payment. */
function worthIn(document: Document, payment: Payment): bigint {
  if (payment.currencyId === document.currencyId) return payment.amountCents;
  return convertCents(payment.amountCents, payment.currencyRate, document.currencyRate);
}

function statusOf(
  document: Document,
  toBePaid: bigint,
  gross: bigint,
  touched: boolean,
  today: string,
): PaymentStatus {
  const settled = gross < 0n ? toBePaid >= 0n : toBePaid <= 0n;
  if (settled && (touched || gross === 0n)) return "paid";
  if (!document.willBePaid) return "will_not_be_paid";
  if (document.dueDate !== null && document.dueDate < today) return "overdue";
  return touched ? "partially_paid" : "unpaid";
}

/** Of the invoice's live credit notes. */
export function creditedCents(company: Company, invoiceId: number): bigint {
  const notes = documentsOf(company, "credit-note");
  const invoices = company.plan.firstIds.invoices;
  const index = company.books.links.madeFrom("credit-note", "invoice", invoiceId - invoices);
  const seededId = index === null ? null : company.plan.firstIds.credit_notes + index;
  const seeded =
    seededId === null || notes.written(seededId) || !notes.has(seededId) ? undefined : notes.get(seededId);
  let sum = seeded ? totalsOf(seeded).gross : 0n;
  for (const note of notes.writtenValues()) if (note.invoiceId === invoiceId) sum += totalsOf(note).gross;
  return sum;
}
