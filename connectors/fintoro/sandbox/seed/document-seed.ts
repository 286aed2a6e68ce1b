import { dateOf, dayOf, firstDayOfYear, yearOf } from "../base/calendar.ts";
import { divide } from "../base/decimal-money.ts";
import { formatNumber, variableSymbol } from "../base/identifiers.ts";
import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { omit, pick } from "../base/values.ts";
import { documentsOf } from "../domain/company-state.ts";
import { totalsOf } from "../domain/documents/totals.ts";
import { czechCrown, rateOn } from "../lookups/currencies.ts";
import { documentKinds, documentTable, kindFacts, payableKinds } from "../model/catalogue.ts";
import type { Document, DocumentKind, Item } from "../model/company-records.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import { dealOf, type Deal } from "./document-deals.ts";
import { vatRateOn } from "./warehouse-seed.ts";
import type { Plan, Seeding } from "./seed-plan.ts";

/** The kinds in the order in which they are made from each other, and how often. */
const chain = [
  { kind: "quotation", from: null, often: 0 },
  { kind: "order", from: "quotation", often: 0.6 },
  { kind: "proforma", from: "order", often: 0.5 },
  { kind: "invoice", from: "proforma", often: 1 },
  { kind: "credit-note", from: "invoice", often: 1 },
] as const;
type Step = (typeof chain)[number];

/**
 * The index of each document's source, -1 for none. A source lies at or before the same share of its own
 * list, so that it is never younger than what was made from it.
 */
function sourcesOf({ seed, volumes }: Plan, { kind, from, often }: Step): Int32Array {
  const sources = new Int32Array(volumes[kind]).fill(-1);
  const sourceCount = from ? volumes[from] : 0;
  let last = -1;
  for (let index = 0; index < sources.length; index++) {
    const source = Math.floor((index * sourceCount) / sources.length);
    if (source === last || source >= sourceCount) continue;
    if (randomFor(seed, `link-${kind}`, index).often(often)) sources[index] = last = source;
  }
  return sources;
}

/** A document that is about to be made. */
interface Draft {
  readonly step: Step;
  readonly index: number;
  readonly number: string;
  readonly issueDay: number;
  /** Index of the document it is made from, or -1. */
  readonly source: number;
  readonly deal: Deal;
  /** A case of the client, if there is one. */
  readonly caseId: number | null;
  /** An order was made from this quotation. */
  readonly isOrdered: boolean;
}

/** Fills in the documents of all kinds. A document made from another one has the same deal. */
export function seedDocuments({ plan, company }: Seeding): void {
  const cases = company.tables.business_cases.where(({ contactType }) => contactType === "client");
  const caseOf = new Map(cases.map(({ contactId, id }) => [contactId, id]));
  const ordered = new Set(sourcesOf(plan, chain[1]));
  let deals: readonly Deal[] = [];
  for (const step of chain) {
    const { kind } = step;
    const sources = sourcesOf(plan, step);
    const own: Deal[] = [];
    for (const { number, issueDay } of numbersAndDays(plan, kind)) {
      const index = own.length;
      const source = sources[index] ?? -1;
      const deal = deals[source] ?? dealOf({ plan, company }, kind, index);
      own.push(deal);
      const caseId = caseOf.get(deal.client.id) ?? null;
      const isOrdered = kind === "quotation" && ordered.has(index);
      const draft = { step, index, number, issueDay, source, deal, caseId, isOrdered };
      documentsOf(company, kind).add((id) => documentFrom(plan, draft, id));
    }
    deals = own;
  }
}

function documentFrom(plan: Plan, draft: Draft, id: number): Document {
  const { index, number, source, deal, step } = draft;
  const { kind, from } = step;
  const random = randomFor(plan.seed, kind, index);
  const sourceId = (wanted: DocumentKind) =>
    source >= 0 && from === wanted ? plan.firstIds[documentTable[from]] + source : null;
  // Every third proforma that became an invoice was paid before: its invoice is a payment receipt.
  const isReceipt = kind === "invoice" && source >= 0 && source % 3 === 0;
  const isLost = randomFor(plan.seed, `lost-${kind}`, index).often(0.03);
  return {
    kind,
    id,
    uuid: random.uuid(),
    type: isReceipt ? "payment_receipt" : kind,
    number,
    company: plan.company,
    clientId: deal.client.id,
    client: deal.snapshot,
    invoiceId: sourceId("invoice"),
    ...datesOf(plan, draft),
    ...termsOf(plan, draft, random),
    willBePaid: kind === "credit-note" || !isLost,
    answer: answerOf(draft, random),
    proformaId: sourceId("proforma"),
    orderId: sourceId("order"),
    quotationId: sourceId("quotation"),
    items: itemsOf(draft, id, random),
  };
}

function answerOf({ step: { kind }, isOrdered }: Draft, random: SeededRandom): Document["answer"] {
  if (isOrdered) return "accepted";
  return kind !== "quotation" || random.often(0.7) ? "waiting" : "rejected";
}

function datesOf({ seed }: Plan, { step: { kind }, index, issueDay }: Draft) {
  const { shown } = kindFacts[kind];
  const dueDays = randomFor(seed, `due-${kind}`, index).pick([7, 14, 14, 14, 30, 60]);
  const late = randomFor(seed, `delivery-${kind}`, index);
  const deliveryDay = issueDay - (late.often(0.3) ? late.int(1, 10) : 0);
  return {
    issueDate: dateOf(issueDay),
    dueDate: shown.includes("dueDate") ? dateOf(issueDay + dueDays) : null,
    deliveryDate: shown.includes("deliveryDate") ? dateOf(deliveryDay) : null,
    validityDate: shown.includes("validityDate") ? dateOf(issueDay + 30) : null,
  };
}

function termsOf({ firstIds }: Plan, draft: Draft, random: SeededRandom) {
  const { step, number, issueDay, deal, caseId } = draft;
  const { client } = deal;
  return {
    ...omit(deal, ["client", "snapshot", "lines"]),
    bankAccountId: firstIds.bank_accounts + (deal.currencyId === czechCrown ? 1 : 0),
    variableSymbol: variableSymbol(number),
    constantSymbol: client.preferredConstantSymbol ?? (random.often(0.5) ? 308 : null),
    specificSymbol: client.preferredSpecificSymbol,
    businessCaseId: random.often(0.3) ? caseId : null,
    numericalSeriesId: firstIds.numerical_series + documentKinds.indexOf(step.kind),
    deliveryMethodId: client.preferredDeliveryMethodId ?? random.int(1, 6),
    paymentMethodId: client.preferredPaymentMethodId ?? (random.often(0.7) ? 1 : random.int(2, 6)),
    currencyRate: rateOn(deal.currencyId, issueDay - 1),
    qrTypeId: random.often(0.8) ? 2 : 1,
  };
}

/** Seeded lines move no stock; one list for all of them. */
const noAllocations: Item["allocations"] = [];

/** The deal's lines; every second credit note takes back only the first. */
function itemsOf(draft: Draft, documentId: number, random: SeededRandom): Item[] {
  const { step, index, issueDay, deal } = draft;
  const isCredit = step.kind === "credit-note";
  const lines = isCredit && index % 2 === 1 ? deal.lines.slice(0, 1) : deal.lines;
  return lines.map(({ vatClass, ...line }, position) => ({
    id: documentId * 10 + position,
    uuid: random.uuid(),
    ...line,
    unitPrice: isCredit ? -line.unitPrice : line.unitPrice,
    vatRate: deal.transferTaxLiability ? 0 : vatRateOn(vatClass, yearOf(issueDay)),
    allocations: noAllocations,
  }));
}

/** The pattern of a kind's numbers, with enough digits for all its documents. */
export function numberPattern(plan: Plan, kind: DocumentKind): string {
  return `${texts[kind].prefix}(${"C".repeat(Math.max(3, String(plan.volumes[kind]).length))})`;
}

/** The number and the day number of the issue of every document of a kind, in the order of their ids. */
function* numbersAndDays(plan: Plan, kind: DocumentKind): Generator<{ number: string; issueDay: number }> {
  const { seed, firstDay, today, volumes } = plan;
  const count = volumes[kind];
  const pattern = numberPattern(plan, kind);
  let counter = 0;
  let year = 0;
  for (let index = 0; index < count; index++) {
    const writtenDay = firstDay + Math.floor(((index + 1) / count) * (today - firstDay));
    counter = yearOf(writtenDay) === year ? counter + 1 : 1;
    year = yearOf(writtenDay);
    // Ids grow with the day of writing. One in seven was issued a few days before, in the same year.
    const random = randomFor(seed, `issue-${kind}`, index);
    const backdated = random.often(0.15) ? writtenDay - random.int(1, 4) : writtenDay;
    const issueDay = Math.max(firstDayOfYear(year), backdated);
    yield { number: formatNumber(pattern, writtenDay, counter), issueDay };
  }
}

/** Fills in the payments of all documents. */
export function seedPayments({ plan, company }: Seeding): void {
  for (const kind of payableKinds) {
    let index = 0;
    for (const document of documentsOf(company, kind).values()) {
      const { days, firstPercent } = settlementOf(plan, document, index++);
      if (days.length === 0) continue;
      const total = totalsOf(document).gross;
      const first = divide(total * BigInt(firstPercent), 100n);
      const invoices = kind === "proforma" ? company.tables.invoices.findBy("proforma", document.id) : [];
      const receipt = invoices.find(({ type }) => type === "payment_receipt");
      const terms = pick(document, ["paymentMethodId", "currencyId", "currencyRate"]);
      for (const [turn, day] of days.entries()) {
        company.tables.document_payments.add((id) => ({
          id,
          documentKind: kind,
          documentId: document.id,
          ...terms,
          paymentDate: dateOf(day),
          amountCents: turn === 0 ? first : total - first,
          receiptInvoiceId: receipt?.id ?? null,
        }));
      }
    }
  }
}

/** The days of a document's payments, and the first one's share. Most are paid, in one payment or two; some are not; no payment lies in the future. */
function settlementOf(plan: Plan, document: Document, index: number) {
  const none = { days: [] as number[], firstPercent: 100 };
  const { kind, type, willBePaid, issueDate } = document;
  if (!willBePaid) return none;
  const random = randomFor(plan.seed, `paid-${kind}`, index);
  const isReceipt = type === "payment_receipt";
  const share = isReceipt ? 0 : random.next();
  const firstDay = dayOf(issueDate) + (isReceipt ? 0 : random.int(1, 25));
  const secondDay = firstDay + random.int(1, 30);
  const firstPercent = random.pick([20, 30, 50, 65]);
  if (firstDay > plan.today || share > 0.86) return none;
  if (share < 0.68) return { days: [firstDay], firstPercent: 100 };
  const both = share < 0.76 && secondDay <= plan.today;
  return { days: both ? [firstDay, secondDay] : [firstDay], firstPercent };
}
