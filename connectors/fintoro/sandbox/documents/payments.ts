import { z } from "zod";
import { dateOf, dayOf } from "../base/calendar.ts";
import { convertCents, decimal, toCents } from "../base/decimal-money.ts";
import type { Call } from "../http/router.ts";
import { list, type Answer } from "../http/service-answer.ts";
import { euro, rateOn } from "../lookups/lookup-lists.ts";
import { documentKinds, kindFacts } from "../model/catalogue.ts";
import { documentsOf, emit, type Company } from "../model/company-state.ts";
import type { Document, DocumentKind, Payment } from "../model/records.ts";
import { collection } from "../collections/collection.ts";
import { refuse } from "../rules/problems.ts";
import { optional, parse } from "../rules/request-shape.ts";
import { balanceOf, paymentsOf } from "./balance.ts";
import { paymentView } from "./document-view.ts";

const payableKind = z.enum(["invoice", "proforma", "credit-note"]);

const paymentShape = z.object({
  documentType: payableKind,
  documentId: z.int(),
  ...optional(["currencyRate", "amount"], z.number()),
  ...optional(["currencyId", "paymentMethodId"], z.int()),
  paymentDate: z.string().optional(),
});

/** Payments never change; one that completes its document's sum makes it paid, with an event. */
export const payments = collection("document_payments", {
  shape: paymentShape,
  facts: ({ company, sent }) => paymentFrom(company, sent),
  view: paymentView,
  list: listPayments,
  method: null,
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
  const document = documentsOf(company, documentKind).get(documentId) ?? refuse("documentId");
  const { toBePaid } = balanceOf(company, document);
  const { currencyId: ownCurrencyId, currencyRate: ownRate, paymentMethodId } = document;
  const { paymentDate = dateOf(company.settings.today), currencyId = ownCurrencyId } = sent;
  const { currencyRate: sentRate = rateOn(currencyId, dayOf(paymentDate) - 1) } = sent;
  const currencyRate = currencyId === euro ? 1 : sentRate;
  const rest = currencyId === ownCurrencyId ? toBePaid : convertCents(toBePaid, ownRate, currencyRate);
  const amountCents = amount === undefined ? rest : toCents(decimal(amount));
  if (amountCents === 0n) refuse("amount");
  return {
    documentKind,
    documentId,
    paymentMethodId: sent.paymentMethodId ?? paymentMethodId,
    currencyId,
    currencyRate,
    paymentDate,
    amountCents,
    receiptInvoiceId: null,
  };
}

/** The payments of one document. */
function listPayments({ company, query, language }: Call): Answer {
  const kind = parse(payableKind, query["documentType"]);
  const found = paymentsOf(company, { kind, id: Number(query["documentId"]) });
  return list(found.map((payment) => paymentView(company, payment, language)));
}

const mailShape = z.object({
  documentType: z.enum(documentKinds as [DocumentKind, ...DocumentKind[]]),
  documentId: z.int(),
  to: z.array(z.string()).min(1),
});

/** Records a mail with a document. Nothing is sent. */
export function sendMail(company: Company, input: unknown): void {
  const mail = parse(mailShape, input);
  if (!documentsOf(company, mail.documentType).has(mail.documentId)) refuse("documentId");
  company.mails.push(mail);
}
