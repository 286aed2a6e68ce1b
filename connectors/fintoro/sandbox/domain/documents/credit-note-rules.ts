import { dateOf, dayOf } from "../../base/calendar.ts";
import type { z } from "zod";
import { euro } from "../../lookups/currencies.ts";
import type { Document, Item } from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import { Problems, refuse } from "../../rules/refusals.ts";
import { parse } from "../../rules/request-shape.ts";
import { documentsOf, type Company } from "../company-state.ts";
import { creditNoteShape, shortcutShape } from "./document-input.ts";
import { expectAccount, expectCase } from "./document-checks.ts";
import { expectItems, itemsFrom } from "./document-items.ts";
import { saved } from "./document-rules.ts";
import { variableSymbol } from "../../base/document-numbers.ts";
import { expectNumber, takeNumber } from "./number-series.ts";
import { totalsOf } from "./document-totals.ts";

type Sent = z.output<typeof creditNoteShape>;
type Facts = Omit<Document, "id" | "uuid">;

export function createCreditNote(company: Company, input: unknown): Document {
  const facts = factsFrom(company, input, null);
  const uuid = company.random.uuid();
  return saved(
    company,
    documentsOf(company, "credit-note").add((id) => ({ id, uuid, ...facts })),
    "created",
  );
}

export function updateCreditNote(company: Company, own: Document, input: unknown): Document {
  const facts = factsFrom(company, input, own);
  const changed = { ...facts, id: own.id, uuid: own.uuid, willBePaid: own.willBePaid };
  return saved(company, documentsOf(company, "credit-note").replace(changed), "updated");
}

/** Everything is sent, except the client: that is always the source invoice's. */
function factsFrom(company: Company, input: unknown, own: Document | null): Facts {
  const sent = parse(creditNoteShape, input);
  const invoice = documentsOf(company, "invoice").get(sent.invoiceId);
  const problems = new Problems();
  expectLookups(problems, sent);
  problems.expect(invoice !== undefined, "invoiceId", "exists");
  expectAccount(company, problems, sent.bankAccountId);
  expectNumber(company, problems, "credit-note", sent, own?.id ?? null);
  expectDates(problems, sent);
  if (invoice) expectCase(company, problems, sent.businessCaseId, invoice.clientId);
  expectItems(company, problems, "credit-note", sent.items, own);
  problems.settle();
  const items = itemsFrom(company, "credit-note", sent.items, sent.languageId, own);
  const facts = { ...headOf(company, sent, invoice as Document), items };
  expectNegative(facts);
  return facts;
}

function expectDates(
  problems: Problems,
  dates: { issueDate: string; dueDate: string; deliveryDate: string },
): void {
  const { issueDate, dueDate, deliveryDate } = dates;
  problems.expect(dueDate >= issueDate, "dueDate", "not_before", { other: "issueDate" });
  problems.expect(deliveryDate <= issueDate, "deliveryDate", "not_after", { other: "issueDate" });
}

function expectNegative(facts: Facts): void {
  if (totalsOf(facts).gross >= 0n) refuse("items", "not_negative");
}

function headOf(company: Company, sent: Sent, invoice: Document): Omit<Facts, "items"> {
  return {
    kind: "credit-note",
    type: "credit-note",
    number: sent.number,
    numericalSeriesId: null,
    company: company.plan.company,
    clientId: invoice.clientId,
    client: invoice.client,
    invoiceId: invoice.id,
    bankAccountId: sent.bankAccountId,
    variableSymbol: sent.variableSymbol,
    constantSymbol: sent.constantSymbol ?? null,
    specificSymbol: sent.specificSymbol ?? null,
    issueDate: sent.issueDate,
    dueDate: sent.dueDate,
    deliveryDate: sent.deliveryDate,
    validityDate: null,
    businessCaseId: sent.businessCaseId ?? null,
    discountType: sent.discountType ?? null,
    discountValue: sent.discountValue ?? null,
    transferTaxLiability: sent.transferTaxLiability,
    deliveryMethodId: invoice.deliveryMethodId,
    paymentMethodId: sent.paymentMethodId,
    currencyId: sent.currencyId,
    currencyRate: sent.currencyId === euro ? 1 : sent.currencyRate,
    languageId: sent.languageId,
    qrTypeId: invoice.qrTypeId,
    note: sent.note ?? null,
    textAboveItems: sent.textAboveItems ?? null,
    willBePaid: true,
    answer: "waiting",
    sources: { proformaId: null, orderId: null, quotationId: null },
  };
}

/** The whole invoice taken back: its items with the sign turned, its terms as they stand. */
export function creditInvoice(company: Company, invoice: Document, input: unknown): Document {
  const sent = parse(shortcutShape, input);
  const issueDate = sent.issueDate ?? dateOf(company.settings.today);
  const dates = {
    issueDate,
    dueDate: sent.dueDate ?? issueDate,
    deliveryDate: sent.deliveryDate ?? issueDate,
  };
  const problems = new Problems();
  expectNumber(company, problems, "credit-note", sent, null);
  expectDates(problems, dates);
  problems.settle();
  const items = invoice.items.map((item) => turned(company, item));
  if (totalsOf({ ...invoice, items }).gross >= 0n) refuse("items", "not_negative");
  const numbered = takeNumber(company, "credit-note", sent, dayOf(issueDate));
  const uuid = company.random.uuid();
  const document = documentsOf(company, "credit-note").add((id) => ({
    ...invoice,
    id,
    uuid,
    kind: "credit-note",
    type: "credit-note",
    ...numbered,
    ...dates,
    invoiceId: invoice.id,
    variableSymbol: variableSymbol(numbered.number),
    note: sent.note === undefined ? invoice.note : sent.note,
    textAboveItems: sent.textAboveItems === undefined ? invoice.textAboveItems : sent.textAboveItems,
    willBePaid: true,
    sources: { proformaId: null, orderId: null, quotationId: null },
    items,
  }));
  return saved(company, document, "created");
}

function turned(company: Company, item: Item): Item {
  const id = company.settings.nextPartId++;
  return { ...item, id, uuid: company.random.uuid(), unitPrice: -item.unitPrice };
}
