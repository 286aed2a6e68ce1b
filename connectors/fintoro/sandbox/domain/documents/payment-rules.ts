import { z } from "zod";
import { dateOf, dayOf } from "../../base/calendar.ts";
import { convertCents, decimal, toCents } from "../../base/decimal-money.ts";
import { euro, rateOn } from "../../lookups/currencies.ts";
import { documentTable } from "../../model/catalogue.ts";
import type { Document, Payment, SentMail } from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import { check, refuse } from "../../rules/refusals.ts";
import { date, email, id, number, parse, text } from "../../rules/request-shape.ts";
import { documentsOf, emit, type Company } from "../company-state.ts";
import { addRecord, removeRecord, type Writes } from "../record-writes.ts";
import { balanceOf, paymentsOf } from "./balance.ts";

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
  removeRecord(company, "document_payments", payment);
}

/** Removes all payments of a document. */
export function removePaymentsOf(company: Company, document: Document): void {
  for (const payment of paymentsOf(company, document.kind, document.id))
    removeRecord(company, "document_payments", payment);
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

/** The mails recorded so far, oldest first. */
export function mailsOf({ mails }: Company): readonly SentMail[] {
  return [...mails];
}
