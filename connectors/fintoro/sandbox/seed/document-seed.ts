import { seededRandom, type SeededRandom } from "../base/seeded-random.ts";
import { dateOf, yearOf } from "../base/calendar.ts";
import { rateOn } from "../lookups/currencies.ts";
import { variableSymbol } from "../base/document-numbers.ts";
import { documentTable } from "../model/catalogue.ts";
import type { Client, ClientSnapshot, Document, DocumentKind, Item } from "../model/company-records.ts";
import { caseOfClient } from "./case-seed.ts";
import { vatRateOn } from "./price-list-seed.ts";
import { dealClientId, dealOf, type Deal, type DealLine } from "./deals.ts";
import { linksOf, type Links, type Origin } from "./document-links.ts";
import type { Plan } from "./seed-plan.ts";
import { Timeline } from "./timeline.ts";

/** Everything about seeded documents that can be told without telling the whole document. */
export interface Books {
  readonly plan: Plan;
  readonly links: Links;
  readonly timelines: Readonly<Record<DocumentKind, Timeline>>;
}

export function booksOf(plan: Plan): Books {
  const kinds = ["invoice", "credit-note", "proforma", "order", "quotation"] as const;
  const timelines = Object.fromEntries(kinds.map((kind) => [kind, new Timeline(plan, kind)]));
  return { plan, links: linksOf(plan), timelines: timelines as Record<DocumentKind, Timeline> };
}

export function firstIdOf(plan: Plan, kind: DocumentKind): number {
  return plan.firstIds[documentTable[kind]];
}

export function dueDay(books: Books, kind: DocumentKind, index: number): number {
  const days = seededRandom(books.plan.seed, `due-${kind}`, index).pick([7, 14, 14, 14, 30, 60]);
  return books.timelines[kind].issueDay(index) + days;
}

export function clientIdAt(books: Books, kind: DocumentKind, index: number): number {
  const root = rootOf(books, kind, index);
  return dealClientId(books.plan, root.kind, root.index);
}

/** The chain's first document. */
function rootOf(books: Books, kind: DocumentKind, index: number): Origin {
  let at: Origin = { kind, index };
  for (let steps = 0; steps < 5; steps++) {
    const source = books.links.sourceOf(at.kind, at.index);
    if (!source) return at;
    at = source;
  }
  return at;
}

/** The final invoice of a proforma that was paid before: a tax document on the payment received. */
export function isPaymentReceipt(books: Books, index: number): boolean {
  const source = books.links.sourceOf("invoice", index);
  return source?.kind === "proforma" && source.index % 3 === 0;
}

export function seededDocument(books: Books, kind: DocumentKind, id: number): Document {
  const { plan, links } = books;
  const index = id - firstIdOf(plan, kind);
  const root = rootOf(books, kind, index);
  const deal = dealOf(plan, root.kind, root.index);
  const random = seededRandom(plan.seed, kind, index);
  const source = links.sourceOf(kind, index);
  const sourceId = (from: DocumentKind) =>
    source?.kind === from ? firstIdOf(plan, from) + source.index : null;
  return {
    kind,
    id,
    uuid: random.uuid(),
    type: kind === "invoice" && isPaymentReceipt(books, index) ? "payment_receipt" : kind,
    number: books.timelines[kind].number(index),
    company: plan.company,
    clientId: deal.client.id,
    client: snapshotOf(deal.client),
    invoiceId: sourceId("invoice"),
    ...datesOf(books, kind, index),
    ...termsOf(books, kind, index, deal, random),
    willBePaid: !isWrittenOff(books, kind, index),
    answer:
      links.madeFrom("order", "quotation", index) === null || kind !== "quotation"
        ? answerOf(kind, random)
        : "accepted",
    sources: {
      proformaId: sourceId("proforma"),
      orderId: sourceId("order"),
      quotationId: sourceId("quotation"),
    },
    items: itemsOf(books, kind, index, deal, random),
  };
}

/** Two in a hundred are never paid, and the books say so. */
export function isWrittenOff(books: Books, kind: DocumentKind, index: number): boolean {
  return kind !== "credit-note" && seededRandom(books.plan.seed, `lost-${kind}`, index).often(0.03);
}

function answerOf(kind: DocumentKind, random: SeededRandom): Document["answer"] {
  return kind !== "quotation" ? "waiting" : random.often(0.7) ? "waiting" : "rejected";
}

function datesOf(books: Books, kind: DocumentKind, index: number) {
  const issue = books.timelines[kind].issueDay(index);
  const delivered = kind === "invoice" || kind === "credit-note";
  const late = seededRandom(books.plan.seed, `delivery-${kind}`, index);
  return {
    issueDate: dateOf(issue),
    dueDate: kind === "order" || kind === "quotation" ? null : dateOf(dueDay(books, kind, index)),
    deliveryDate: delivered ? dateOf(issue - (late.often(0.3) ? late.int(1, 10) : 0)) : null,
    validityDate: kind === "quotation" ? dateOf(issue + 30) : null,
  };
}

function termsOf(books: Books, kind: DocumentKind, index: number, deal: Deal, random: SeededRandom) {
  const { plan, timelines } = books;
  const { client } = deal;
  const rateDay = timelines[kind].issueDay(index) - 1;
  return {
    bankAccountId: plan.firstIds.bank_accounts + (deal.currencyId === 5 ? 1 : 0),
    variableSymbol: variableSymbol(timelines[kind].number(index)),
    constantSymbol: client.preferredConstantSymbol ?? (random.often(0.5) ? 308 : null),
    specificSymbol: client.preferredSpecificSymbol,
    businessCaseId: random.often(0.3) ? caseOfClient(plan, client.id) : null,
    discountType: deal.discountType,
    discountValue: deal.discountValue,
    transferTaxLiability: deal.reverseCharge,
    numericalSeriesId:
      plan.firstIds.numerical_series +
      ["invoice", "credit-note", "proforma", "order", "quotation"].indexOf(kind),
    deliveryMethodId: client.preferredDeliveryMethodId ?? random.int(1, 6),
    paymentMethodId: client.preferredPaymentMethodId ?? (random.often(0.7) ? 1 : random.int(2, 6)),
    currencyId: deal.currencyId,
    currencyRate: rateOn(deal.currencyId, rateDay),
    languageId: deal.languageId,
    qrTypeId: random.often(0.8) ? 2 : 1,
    note: deal.note,
    textAboveItems: deal.textAboveItems,
  };
}

function itemsOf(books: Books, kind: DocumentKind, index: number, deal: Deal, random: SeededRandom): Item[] {
  const year = yearOf(books.timelines[kind].issueDay(index));
  const lines = kind === "credit-note" && index % 2 === 1 ? deal.lines.slice(0, 1) : deal.lines;
  const sign = kind === "credit-note" ? -1 : 1;
  const first = firstIdOf(books.plan, kind) * 10 + index * 10;
  return lines.map((line, position) => ({
    id: first + position,
    uuid: random.uuid(),
    ...wordsOf(line),
    unitPrice: sign * line.unitPrice,
    vatRate: deal.reverseCharge ? 0 : vatRateOn(line.vatClass, year),
    priceListItemId:
      line.priceListIndex === null ? null : books.plan.firstIds.price_list_items + line.priceListIndex,
    allocations: [],
  }));
}

function wordsOf(line: DealLine) {
  const { name, description, unitId, quantity, discountName, discountType, discountValue } = line;
  return { name, description, unitId, quantity, discountName, discountType, discountValue };
}

export function snapshotOf(client: Client): ClientSnapshot {
  const { type, name, subjectId, taxId, vatId, isVatPayer, email, street, city, zip, countryId } = client;
  const { hasDeliveryAddress, deliveryStreet, deliveryCity, deliveryZip, deliveryCountryId } = client;
  return {
    type,
    name,
    subjectId,
    taxId,
    vatId,
    isVatPayer,
    email,
    street,
    city,
    zip,
    countryId,
    hasDeliveryAddress,
    deliveryStreet,
    deliveryCity,
    deliveryZip,
    deliveryCountryId,
  };
}
