import { z } from "zod";
import { dateOf, dayOf } from "../base/calendar.ts";
import { convertCents, decimal, toCents } from "../base/decimal-money.ts";
import { each } from "../base/values.ts";
import { euro, rateOn } from "../lookups/lookup-lists.ts";
import { documentKinds, kindFacts } from "../model/catalogue.ts";
import { documentsOf, emit, type Company } from "../model/company.ts";
import { parse, refuse } from "../rules/rules.ts";
import { collection, type Write } from "./collection.ts";
import { balanceOf, paymentsOf } from "./balance.ts";
import { paymentView } from "./document-view.ts";

const payableKind = z.enum(["invoice", "proforma", "credit-note"]);

const paymentShape = z.object({
  documentType: payableKind,
  documentId: z.int(),
  ...each("currencyRate amount", z.number().optional()),
  ...each("currencyId paymentMethodId", z.int().optional()),
  paymentDate: z.string().optional(),
});

const ofOneDocument = z.object({ documentType: payableKind, documentId: z.coerce.number() });

/** Payments never change; one that completes its document's sum makes it paid, with an event. */
export const payments = collection("document_payments", {
  shape: paymentShape,
  facts: paymentFrom,
  view: paymentView,
  list: {
    rows: ({ company, query }) => {
      const { documentType: kind, documentId } = parse(ofOneDocument, query);
      return paymentsOf(company, { kind, id: documentId });
    },
  },
  method: null,
  afterChange: (company, _, payment) => {
    const document = payment && documentsOf(company, payment.documentKind).get(payment.documentId);
    if (!document) return;
    const others = paymentsOf(company, document).filter((one) => one.id !== payment.id);
    const wasPaid = balanceOf(company, document, others).status === "paid";
    if (!wasPaid && balanceOf(company, document).status === "paid")
      emit(company, kindFacts[document.kind].table, "paid", document.id);
  },
});

/** Pays a document: with its own terms where nothing else is sent, and all that is left to pay. */
function paymentFrom({ company, sent }: Write<z.output<typeof paymentShape>>) {
  const { documentType: documentKind, documentId, amount } = sent;
  const document = documentsOf(company, documentKind).get(documentId) ?? refuse("documentId");
  const { toBePaid } = balanceOf(company, document);
  const { paymentDate = dateOf(company.today), currencyId = document.currencyId } = sent;
  const { currencyRate: sentRate = rateOn(currencyId, dayOf(paymentDate) - 1) } = sent;
  const { paymentMethodId = document.paymentMethodId } = sent;
  const currencyRate = currencyId === euro ? 1 : sentRate;
  const isOwn = currencyId === document.currencyId;
  const rest = isOwn ? toBePaid : convertCents(toBePaid, document.currencyRate, currencyRate);
  const amountCents = amount === undefined ? rest : toCents(decimal(amount));
  if (amountCents === 0n) refuse("amount");
  const money = { currencyId, currencyRate, paymentDate, amountCents };
  return { documentKind, documentId, paymentMethodId, ...money, receiptInvoiceId: null };
}

const mailShape = z.object({
  documentType: z.enum(documentKinds),
  documentId: z.int(),
  to: z.array(z.string()).min(1),
});

/** Takes a mail with a document. Nothing is sent. */
export function sendMail(company: Company, input: unknown): void {
  const { documentType, documentId } = parse(mailShape, input);
  if (!documentsOf(company, documentType).get(documentId)) refuse("documentId");
}
