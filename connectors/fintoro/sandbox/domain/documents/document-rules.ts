import { dateOf, dayOf } from "../../base/calendar.ts";
import { euro, rateOn } from "../../lookups/currencies.ts";
import { documentTable } from "../../model/catalogue.ts";
import type { Client, Document } from "../../model/company-records.ts";
import { Problems } from "../../rules/refusals.ts";
import { parse } from "../../rules/request-shape.ts";
import { snapshotOf } from "../../seed/document-seed.ts";
import { dropAllocations, expectAllocated, syncAllocations } from "../warehouse/allocations.ts";
import { documentsOf, type Company } from "../company-state.ts";
import { expectCase, expectDocument, primaryAccount } from "./document-checks.ts";
import { documentShape, type DocumentInput, type FlowKind } from "./document-input.ts";
import { itemsFrom } from "./document-items.ts";
import { emit } from "../emit.ts";
import { variableSymbol } from "../../base/document-numbers.ts";
import { overlaid } from "../crm/contacts.ts";
import { dropPaymentsOf } from "./payment-rules.ts";
import { resolveClient } from "../crm/contact-matching.ts";
import { takeNumber } from "./number-series.ts";

export function createDocument(company: Company, kind: FlowKind, input: unknown): Document {
  const facts = factsFrom(company, kind, input, null);
  const uuid = company.random.uuid();
  const document = documentsOf(company, kind).add((id) => ({ id, uuid, ...facts }));
  return saved(company, document, "created");
}

/** The whole document anew: what is left out is resolved as at a creation, never from what stood there. */
export function updateDocument(company: Company, own: Document, kind: FlowKind, input: unknown): Document {
  const facts = factsFrom(company, kind, input, own);
  const kept = { id: own.id, uuid: own.uuid, type: own.type, willBePaid: own.willBePaid, answer: own.answer };
  return saved(company, documentsOf(company, kind).replace({ ...facts, ...kept }), "updated");
}

export function saved(company: Company, document: Document, change: "created" | "updated"): Document {
  emit(company, documentTable[document.kind], change, document.id);
  syncAllocations(company, document);
  return document;
}

/** Its payments and the receipts it made go with it. */
export function deleteDocument(company: Company, document: Document): void {
  dropPaymentsOf(company, document);
  documentsOf(company, document.kind).remove(document.id);
  emit(company, documentTable[document.kind], "deleted", document.id);
  dropAllocations(company, document);
}

type Facts = Omit<Document, "id" | "uuid">;

function factsFrom(company: Company, kind: FlowKind, input: unknown, own: Document | null): Facts {
  const sent = parse(documentShape(kind), input);
  const problems = new Problems();
  expectDocument(company, problems, kind, sent, own);
  if (sent.clientId) expectCase(company, problems, sent.businessCaseId, sent.clientId);
  problems.settle();
  const known = sent.clientId ? company.tables.clients.get(sent.clientId) : undefined;
  const languageId = sent.languageId ?? known?.preferredLanguageId ?? defaults.languageId;
  const items = itemsFrom(company, kind, sent.items, languageId, own);
  expectAllocated(company, kind, items, own);
  const client = known ?? resolveClient(company, sent.client ?? {});
  if (!known) expectLateCase(company, sent, client);
  return {
    ...headOf(company, kind, sent, client),
    ...termsOf(company, sent, client),
    languageId,
    items,
  };
}

/** Only now is it known whose case it would have to be. */
function expectLateCase(company: Company, sent: DocumentInput, client: Client): void {
  const problems = new Problems();
  expectCase(company, problems, sent.businessCaseId, client.id);
  problems.settle();
}

/** The company's document settings. */
const defaults = {
  languageId: 1,
  currencyId: euro,
  deliveryMethodId: 1,
  paymentMethodId: 1,
  qrTypeId: 2,
  dueDays: 14,
};

function headOf(company: Company, kind: FlowKind, sent: DocumentInput, client: Client) {
  const issueDate = sent.issueDate ?? dateOf(company.settings.today);
  const issueDay = dayOf(issueDate);
  const payable = kind === "invoice" || kind === "proforma";
  const dueDays = sent.dueDateDays ?? client.preferredDueDays ?? defaults.dueDays;
  const numbered = takeNumber(company, kind, sent, issueDay);
  return {
    kind,
    type: kind as string,
    ...numbered,
    company: company.plan.company,
    clientId: client.id,
    client: overlaid(snapshotOf(client), sent.clientId ? (sent.client ?? null) : null),
    invoiceId: null,
    bankAccountId: payable ? (sent.bankAccountId ?? primaryAccount(company)?.id ?? null) : null,
    variableSymbol: sent.variableSymbol ?? client.preferredVariableSymbol ?? variableSymbol(numbered.number),
    constantSymbol: sent.constantSymbol === undefined ? client.preferredConstantSymbol : sent.constantSymbol,
    specificSymbol: sent.specificSymbol === undefined ? client.preferredSpecificSymbol : sent.specificSymbol,
    issueDate,
    dueDate: payable ? dateOf(issueDay + dueDays) : null,
    deliveryDate: kind === "invoice" ? (sent.deliveryDate ?? issueDate) : null,
    validityDate: kind === "quotation" ? (sent.validityDate ?? dateOf(issueDay + 30)) : null,
    sources: {
      proformaId: sent.proformaId ?? null,
      orderId: sent.orderId ?? null,
      quotationId: sent.quotationId ?? null,
    },
  };
}

function termsOf(company: Company, sent: DocumentInput, client: Client) {
  const currencyId = sent.currencyId ?? client.preferredCurrencyId ?? defaults.currencyId;
  const rateDate = sent.deliveryDate ?? sent.issueDate ?? dateOf(company.settings.today);
  return {
    businessCaseId: sent.businessCaseId ?? null,
    discountType: sent.discountType ?? null,
    discountValue: sent.discountValue ?? null,
    transferTaxLiability: sent.transferTaxLiability ?? false,
    deliveryMethodId: sent.deliveryMethodId ?? client.preferredDeliveryMethodId ?? defaults.deliveryMethodId,
    paymentMethodId: sent.paymentMethodId ?? client.preferredPaymentMethodId ?? defaults.paymentMethodId,
    currencyId,
    currencyRate: currencyId === euro ? 1 : (sent.currencyRate ?? rateOn(currencyId, dayOf(rateDate) - 1)),
    qrTypeId: sent.qrTypeId ?? defaults.qrTypeId,
    note: sent.note === undefined ? client.preferredNote : sent.note,
    textAboveItems: sent.textAboveItems === undefined ? client.preferredTextAboveItems : sent.textAboveItems,
    willBePaid: true,
    answer: "waiting" as const,
  };
}
