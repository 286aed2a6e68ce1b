import { dateOf, dayOf, firstDayOfYear, yearOf } from "../base/calendar.ts";
import { divide } from "../base/decimal-money.ts";
import { formatNumber, variableSymbol } from "../base/identifiers.ts";
import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { omit, pick } from "../base/values.ts";
import { documentsOf, type Company } from "../domain/company-state.ts";
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
  { kind: "invoice", from: "proforma", often: 0.35 },
  { kind: "credit-note", from: "invoice", often: 1 },
] as const;
type Step = (typeof chain)[number];

/**
 * The index of each document's source, -1 for none. A source lies at about the same share of its own list; that of an
 * invoice was written on the same day or before, because its payments are.
 */
function sourcesOf({ seed, volumes }: Plan, { kind, from, often }: Step): Int32Array {
  const sources = new Int32Array(volumes[kind]).fill(-1);
  const sourceCount = from ? volumes[from] : 0;
  let last = -1;
  for (let index = 0; index < sources.length; index++) {
    const source =
      kind === "invoice"
        ? Math.floor(((index + 1) * sourceCount) / sources.length) - 1
        : Math.floor((index * sourceCount) / sources.length);
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
  /** Another document was made from this one. */
  readonly isFollowed: boolean;
}

/** Of three proformas with an invoice, two were paid before: their invoice is a payment receipt. The third was never paid. */
const isReceipted = (proformaIndex: number) => proformaIndex % 3 !== 1;

/** Fills in the documents of all kinds. A document made from another one has the same deal. */
export function seedDocuments({ plan, company }: Seeding): void {
  const cases = company.tables.business_cases.where(({ contactType }) => contactType === "client");
  const caseOf = new Map(cases.map(({ contactId, id }) => [contactId, id]));
  let deals: readonly Deal[] = [];
  for (const [place, step] of chain.entries()) {
    const { kind } = step;
    const next = chain[place + 1];
    const sources = sourcesOf(plan, step);
    const followed = new Set(next ? sourcesOf(plan, next) : []);
    const own: Deal[] = [];
    for (const { number, issueDay } of numbersAndDays(plan, kind)) {
      const index = own.length;
      const source = sources[index] ?? -1;
      const deal = deals[source] ?? dealOf({ plan, company }, kind, index);
      own.push(deal);
      const caseId = caseOf.get(deal.client.id) ?? null;
      const isFollowed = followed.has(index);
      const draft = { step, index, number, issueDay, source, deal, caseId, isFollowed };
      const advance =
        kind === "invoice" && source >= 0 && isReceipted(source) ? sourceOf(company, plan, source) : null;
      documentsOf(company, kind).add((id) =>
        advance ? receiptFrom(plan, draft, id, advance) : documentFrom(plan, draft, id),
      );
    }
    deals = own;
  }
}

function sourceOf(company: Company, { firstIds }: Plan, index: number): Document | null {
  return company.tables.proformas.get(firstIds.proformas + index) ?? null;
}

function documentFrom(plan: Plan, draft: Draft, id: number): Document {
  const { index, number, source, deal, step } = draft;
  const { kind, from } = step;
  const random = randomFor(plan.seed, kind, index);
  const sourceId = (wanted: DocumentKind) =>
    source >= 0 && from === wanted ? plan.firstIds[documentTable[from]] + source : null;
  const isLost = randomFor(plan.seed, `lost-${kind}`, index).often(0.03);
  return {
    kind,
    id,
    uuid: random.uuid(),
    type: kind,
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

/** The tax document of a proforma's payments: never issued before the last of them, of the same lines and rates of VAT. */
function receiptFrom(plan: Plan, draft: Draft, id: number, proforma: Document): Document {
  const issueDay = Math.max(draft.issueDay, dayOf(proforma.issueDate));
  const invoice = documentFrom(plan, { ...draft, issueDay }, id);
  const paidDay = Math.max(...advanceOf(plan, proforma, draft.source, issueDay).days);
  const vatRates = proforma.items.map(({ vatRate }) => vatRate);
  return {
    ...invoice,
    type: "payment_receipt",
    willBePaid: true,
    dueDate: invoice.issueDate,
    deliveryDate: dateOf(paidDay),
    items: invoice.items.map((item, position) => ({ ...item, vatRate: vatRates[position] ?? item.vatRate })),
  };
}

function answerOf({ step: { kind }, isFollowed }: Draft, random: SeededRandom): Document["answer"] {
  if (kind === "quotation" && isFollowed) return "accepted";
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

/** Fills in the payments of all documents. A receipt shows the payments of its proforma as its own. */
export function seedPayments({ plan, company }: Seeding): void {
  for (const kind of payableKinds) {
    let index = 0;
    for (const document of documentsOf(company, kind).values()) {
      const { days, firstPercent, rateFrom, receiptInvoiceId } = planned(company, plan, document, index++);
      if (days.length === 0) continue;
      const total = totalsOf(document).gross;
      const first = divide(total * BigInt(firstPercent), 100n);
      for (const [turn, day] of days.entries()) {
        company.tables.document_payments.add((id) => ({
          id,
          documentKind: kind,
          documentId: document.id,
          ...pick(document, ["paymentMethodId", "currencyId"]),
          currencyRate: rateFrom.currencyRate,
          paymentDate: dateOf(day),
          amountCents: turn === 0 ? first : total - first,
          receiptInvoiceId,
        }));
      }
    }
  }
}

/** What is paid of a document, at the rate of which document, and the invoice that receipts it. */
function planned(company: Company, plan: Plan, document: Document, index: number) {
  const { kind, type, id, issueDate, proformaId } = document;
  if (type === "payment_receipt") {
    const proforma = company.tables.proformas.get(proformaId ?? 0) ?? document;
    const place = proforma.id - plan.firstIds.proformas;
    return {
      ...advanceOf(plan, proforma, place, dayOf(issueDate)),
      rateFrom: proforma,
      receiptInvoiceId: null,
    };
  }
  const invoices = kind === "proforma" ? company.tables.invoices.findBy("proforma", id) : [];
  const receipt = invoices.find((invoice) => invoice.type === "payment_receipt");
  const isReplaced = invoices.length > 0 && !receipt;
  const paid = receipt
    ? advanceOf(plan, document, index, dayOf(receipt.issueDate))
    : settlementOf(plan, isReplaced ? { ...document, willBePaid: false } : document, index);
  return { ...paid, rateFrom: document, receiptInvoiceId: receipt?.id ?? null };
}

interface Settlement {
  /** Day numbers of the payments. */
  readonly days: readonly number[];
  /** Of the first one. */
  readonly firstPercent: number;
}

/** The payments of a proforma that is receipted on `receiptDay`: all of it, and none of them later. */
function advanceOf(plan: Plan, proforma: Document, index: number, receiptDay: number): Settlement {
  const { days, firstPercent } = settlementOf(plan, { ...proforma, willBePaid: true }, index);
  const all = days.length > 0 && (days.length === 2 || firstPercent === 100);
  const atMost = (day: number) => Math.min(day, receiptDay);
  return all ? { days: days.map(atMost), firstPercent } : { days: [receiptDay], firstPercent: 100 };
}

/** The days of a document's payments, and the first one's share. Most are paid, in one payment or two; some are not; no payment lies in the future. */
function settlementOf(plan: Plan, document: Document, index: number): Settlement {
  const none = { days: [], firstPercent: 100 };
  const { kind, willBePaid, issueDate } = document;
  if (!willBePaid) return none;
  const random = randomFor(plan.seed, `paid-${kind}`, index);
  const share = random.next();
  const firstDay = dayOf(issueDate) + random.int(1, 25);
  const secondDay = firstDay + random.int(1, 30);
  const firstPercent = random.pick([20, 30, 50, 65]);
  if (firstDay > plan.today || share > 0.86) return none;
  if (share < 0.68) return { days: [firstDay], firstPercent: 100 };
  const both = share < 0.76 && secondDay <= plan.today;
  return { days: both ? [firstDay, secondDay] : [firstDay], firstPercent };
}
