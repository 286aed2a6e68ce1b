import { z } from "zod";
import { dateOf, dayOf } from "../../base/calendar.ts";
import { convertCents, decimal, toCents } from "../../base/decimal-money.ts";
import { euro, rateOn } from "../../lookups/currencies.ts";
import { documentTable } from "../../model/catalogue.ts";
import type { Document, Payment } from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import { Problems, refuse } from "../../rules/refusals.ts";
import { date, email, id, number, parse, text } from "../../rules/request-shape.ts";
import { balanceOf, paymentsOf } from "./balance.ts";
import { documentsOf, type Company } from "../company-state.ts";
import { emit } from "../emit.ts";

const paymentInput = z.object({
  documentType: z.enum(["invoice", "proforma", "credit-note"]),
  documentId: id(),
  currencyId: id().optional(),
  currencyRate: number(0.00001, 10_000_000).optional(),
  paymentDate: date().optional(),
  paymentMethodId: id().optional(),
  amount: number().optional(),
});

/** The document's own terms wherever nothing else is sent, and all that is left to pay. */
export function createPayment(company: Company, input: unknown): Payment {
  const sent = parse(paymentInput, input);
  const document = documentsOf(company, sent.documentType).get(sent.documentId);
  const problems = new Problems();
  expectLookups(problems, sent);
  problems.expect(document !== undefined, "documentId", "exists");
  problems.expect(sent.amount !== 0, "amount", "zero");
  problems.settle();
  return record(company, document as Document, sent);
}

function record(company: Company, document: Document, sent: z.output<typeof paymentInput>): Payment {
  const before = balanceOf(company, document);
  const paymentDate = sent.paymentDate ?? dateOf(company.settings.today);
  const currencyId = sent.currencyId ?? document.currencyId;
  const currencyRate =
    currencyId === euro ? 1 : (sent.currencyRate ?? rateOn(currencyId, dayOf(paymentDate) - 1));
  const same = currencyId === document.currencyId;
  const rest = same ? before.toBePaid : convertCents(before.toBePaid, document.currencyRate, currencyRate);
  if (sent.amount === undefined && rest === 0n) refuse("amount", "zero");
  const payment = company.tables.document_payments.add((newId) => ({
    id: newId,
    documentKind: document.kind,
    documentId: document.id,
    paymentMethodId: sent.paymentMethodId ?? document.paymentMethodId,
    currencyId,
    currencyRate,
    paymentDate,
    amountCents: sent.amount === undefined ? rest : toCents(decimal(sent.amount)),
    receiptInvoiceId: null,
  }));
  const key = `${document.kind}:${document.id}`;
  company.newPayments.set(key, [...(company.newPayments.get(key) ?? []), payment.id]);
  emit(company, "document_payments", "created", payment.id);
  const paid = balanceOf(company, document).status === "paid";
  if (paid && before.status !== "paid") emit(company, documentTable[document.kind], "paid", document.id);
  return payment;
}

/** A payment receipt lives of its payment: that one stays. */
export function deletePayment(company: Company, payment: Payment): void {
  const document = documentsOf(company, payment.documentKind).get(payment.documentId);
  if (document?.type === "payment_receipt") refuse("documentPayment", "payment_receipt");
  removePayment(company, payment);
}

export function dropPaymentsOf(company: Company, document: Document): void {
  for (const payment of paymentsOf(company, document.kind, document.id)) removePayment(company, payment);
}

function removePayment(company: Company, payment: Payment): void {
  company.tables.document_payments.remove(payment.id);
  emit(company, "document_payments", "deleted", payment.id);
}

const mailInput = z.object({
  documentType: z.enum(["invoice", "proforma", "order", "credit-note", "quotation"]),
  documentId: id(),
  to: z.array(email()).min(1),
  body: text(1000).nullish(),
  type: z.enum(["regular", "reminder", "overdue_reminder", "confirmation"]),
});

export interface SentMail {
  readonly documentType: string;
  readonly documentId: number;
  readonly to: readonly string[];
}

const outbox = new WeakMap<Company, SentMail[]>();

/** Nothing is sent: the mail is only remembered. */
export function sendMail(company: Company, input: unknown): void {
  const { documentType, documentId, to } = parse(mailInput, input);
  if (!documentsOf(company, documentType).has(documentId)) refuse("documentId", "exists");
  outbox.set(company, [...mailsOf(company), { documentType, documentId, to }]);
}

export function mailsOf(company: Company): readonly SentMail[] {
  return outbox.get(company) ?? [];
}
