import { z } from "zod";
import { dateOf, dayOf } from "../base/calendar.ts";
import { convertCents, decimal, toCents } from "../base/decimal-money.ts";
import type { Call } from "../http/router.ts";
import { list, type Answer } from "../http/service-answer.ts";
import { euro, rateOn } from "../lookups/lookup-lists.ts";
import { kindFacts } from "../model/catalogue.ts";
import { documentsOf, emit, type Company } from "../model/company-state.ts";
import type { Document, Payment } from "../model/records.ts";
import { collection } from "../collections/collection.ts";
import { check, refuse } from "../rules/problems.ts";
import { choice, date, email, id, number, parse, query, text } from "../rules/request-shape.ts";
import { balanceOf, paymentsOf } from "./balance.ts";
import { paymentView } from "./document-view.ts";

const payableKind = z.enum(["invoice", "proforma", "credit-note"]);

const paymentShape = z.object({
  documentType: payableKind,
  documentId: id(),
  currencyId: choice("currencies").optional(),
  currencyRate: number(0.00001, 10_000_000).optional(),
  paymentDate: date().optional(),
  paymentMethodId: choice("payment-methods").optional(),
  amount: number().optional(),
});

/** Payments never change; one that completes its document's sum makes it paid, with an event. */
export const payments = collection("document_payments", {
  shape: paymentShape,
  facts: ({ company, sent }) => paymentFrom(company, sent),
  view: paymentView,
  list: listPayments,
  method: null,
  beforeRemove: (company, { documentKind, documentId }) => {
    const document = documentsOf(company, documentKind).get(documentId);
    if (document?.type === "payment_receipt") refuse("documentPayment", "payment_receipt");
  },
  afterChange: (company, _, payment) => {
    const document = payment && documentsOf(company, payment.documentKind).get(payment.documentId);
    if (document && completes(company, document, payment))
      emit(company, kindFacts[document.kind].table, "paid", document.id);
  },
});

/** Is the document paid with this payment, and was it not without it? */
function completes(company: Company, document: Document, payment: Payment): boolean {
  const others = paymentsOf(company, document).filter(({ id: other }) => other !== payment.id);
  const statuses = [balanceOf(company, document, others).status, balanceOf(company, document).status];
  return statuses[0] !== "paid" && statuses[1] === "paid";
}

/** Pays a document: with its own terms where nothing else is sent, and all that is left to pay. */
function paymentFrom(company: Company, sent: z.output<typeof paymentShape>): Omit<Payment, "id"> {
  const { documentType: documentKind, documentId, amount } = sent;
  const document = documentsOf(company, documentKind).get(documentId);
  check((problems) => {
    problems.expect(document !== undefined, "documentId", "exists");
    problems.expect(amount !== 0, "amount", "zero");
  });
  const { toBePaid } = balanceOf(company, document as Document);
  const { currencyId: ownCurrencyId, currencyRate: ownRate, paymentMethodId } = document as Document;
  const { paymentDate = dateOf(company.settings.today), currencyId = ownCurrencyId } = sent;
  const { currencyRate: sentRate = rateOn(currencyId, dayOf(paymentDate) - 1) } = sent;
  const currencyRate = currencyId === euro ? 1 : sentRate;
  const rest = currencyId === ownCurrencyId ? toBePaid : convertCents(toBePaid, ownRate, currencyRate);
  if (amount === undefined && rest === 0n) refuse("amount", "zero");
  return {
    documentKind,
    documentId,
    paymentMethodId: sent.paymentMethodId ?? paymentMethodId,
    currencyId,
    currencyRate,
    paymentDate,
    amountCents: amount === undefined ? rest : toCents(decimal(amount)),
    receiptInvoiceId: null,
  };
}

const paymentQuery = z.object({ documentType: payableKind, documentId: query.int(0).nonoptional() });

/** The payments of one document. */
function listPayments({ company, query: sent, language }: Call): Answer {
  const { documentType: kind, documentId } = parse(paymentQuery, sent);
  if (!documentsOf(company, kind).has(documentId)) refuse("documentId", "exists");
  const found = paymentsOf(company, { kind, id: documentId });
  return list(found.map((payment) => paymentView(company, payment, language)));
}

const mailShape = z.object({
  documentType: z.enum(["invoice", "proforma", "order", "credit-note", "quotation"]),
  documentId: id(),
  to: z.array(email()).min(1),
  body: text(1000).nullish(),
  type: z.enum(["regular", "reminder", "overdue_reminder", "confirmation"]),
});

/** Records a mail with a document. Nothing is sent. */
export function sendMail(company: Company, input: unknown): void {
  const { documentType, documentId, to } = parse(mailShape, input);
  if (!documentsOf(company, documentType).has(documentId)) refuse("documentId", "exists");
  company.mails.push({ documentType, documentId, to });
}
