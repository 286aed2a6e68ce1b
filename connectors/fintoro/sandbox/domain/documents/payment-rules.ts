import { z } from "zod";
import { dateOf, dayOf } from "../../base/calendar.ts";
import { convertCents, decimal, toCents } from "../../base/decimal-money.ts";
import { euro, rateOn } from "../../lookups/currencies.ts";
import { documentTable } from "../../model/catalogue.ts";
import type { Document, DocumentKind, Payment } from "../../model/company-records.ts";
import { check, expectLookups, refuse } from "../../rules/problems.ts";
import { date, email, id, number, parse, text } from "../../rules/request-shape.ts";
import { ownerKey, documentsOf, emit, type Company } from "../company-state.ts";
import { addRecord, deleteRecord, type Writes } from "../record-writes.ts";
import { totalsOf, type Totals } from "./totals.ts";

/** How far a document is paid. */
export const paymentStatuses = ["paid", "unpaid", "partially_paid", "overdue", "will_not_be_paid"] as const;
type PaymentStatus = (typeof paymentStatuses)[number];

/** What is paid of a document and what is left, cents in its currency. */
export interface Balance {
  readonly totals: Totals;
  readonly paid: bigint;
  readonly toBePaid: bigint;
  readonly status: PaymentStatus;
}

/** A document's payments, newest first; of one day, the one recorded last first. */
export function paymentsOf({ tables }: Company, kind: DocumentKind, documentId: number): Payment[] {
  const payments = tables.document_payments.findBy("document", ownerKey(kind, documentId));
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

const paymentInput = z.object({
  documentType: z.enum(["invoice", "proforma", "credit-note"]),
  documentId: id(),
  currencyId: id().optional(),
  currencyRate: number(0.00001, 10_000_000).optional(),
  paymentDate: date().optional(),
  paymentMethodId: id().optional(),
  amount: number().optional(),
});

/** Creating and removing payments; a payment never changes. */
export const paymentWrites: Writes<Payment> = { create: createPayment, update: null, remove: deletePayment };

/** Pays a document: with its own terms where nothing else is sent, and all that is left to pay. */
function createPayment(company: Company, input: unknown): Payment {
  const sent = parse(paymentInput, input);
  const document = documentsOf(company, sent.documentType).get(sent.documentId);
  check((problems) => {
    expectLookups(problems, sent);
    problems.expect(document !== undefined, "documentId", "exists");
    problems.expect(sent.amount !== 0, "amount", "zero");
  });
  return pay(company, document as Document, sent);
}

function pay(company: Company, document: Document, sent: z.output<typeof paymentInput>): Payment {
  const before = balanceOf(company, document);
  const { paymentDate = dateOf(company.settings.today), currencyId = document.currencyId } = sent;
  const { currencyRate: sentRate = rateOn(currencyId, dayOf(paymentDate) - 1) } = sent;
  const currencyRate = currencyId === euro ? 1 : sentRate;
  const { paymentMethodId = document.paymentMethodId } = sent;
  const same = currencyId === document.currencyId;
  const rest = same ? before.toBePaid : convertCents(before.toBePaid, document.currencyRate, currencyRate);
  const amountCents = sent.amount === undefined ? rest : toCents(decimal(sent.amount));
  if (sent.amount === undefined && rest === 0n) refuse("amount", "zero");
  const payment = addRecord(company, "document_payments", {
    documentKind: document.kind,
    documentId: document.id,
    paymentMethodId,
    currencyId,
    currencyRate,
    paymentDate,
    amountCents,
    receiptInvoiceId: null,
  });
  const paid = balanceOf(company, document).status === "paid";
  if (paid && before.status !== "paid") emit(company, documentTable[document.kind], "paid", document.id);
  return payment;
}

/** Removes a payment; not that of a payment receipt, which is a tax document of the payment itself. */
function deletePayment(company: Company, payment: Payment): void {
  const document = documentsOf(company, payment.documentKind).get(payment.documentId);
  if (document?.type === "payment_receipt") refuse("documentPayment", "payment_receipt");
  deleteRecord(company, "document_payments", payment);
}

/** Removes all payments of a document. */
export function removePaymentsOf(company: Company, document: Document): void {
  for (const payment of paymentsOf(company, document.kind, document.id))
    deleteRecord(company, "document_payments", payment);
}

const mailInput = z.object({
  documentType: z.enum(["invoice", "proforma", "order", "credit-note", "quotation"]),
  documentId: id(),
  to: z.array(email()).min(1),
  body: text(1000).nullish(),
  type: z.enum(["regular", "reminder", "overdue_reminder", "confirmation"]),
});

/** Records a mail with a document. Nothing is sent. */
export function sendMail(company: Company, input: unknown): void {
  const { documentType, documentId, to } = parse(mailInput, input);
  if (!documentsOf(company, documentType).has(documentId)) refuse("documentId", "exists");
  company.mails.push({ documentType, documentId, to });
}
