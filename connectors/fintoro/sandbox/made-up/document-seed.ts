import { dateOf, dayOf, firstDayOfYear, yearOf } from "../base/calendar.ts";
import { divide } from "../base/decimal-money.ts";
import { randomFor } from "../base/seeded-random.ts";
import { pick } from "../base/values.ts";
import { payableKinds } from "../model/catalogue.ts";
import { documentsOf } from "../model/company.ts";
import type { DocumentKind, BookRow } from "../model/rows.ts";
import { paymentsOf, totalsOf } from "../resources/balance.ts";
import { creditInvoice, documents } from "../resources/documents.ts";
import { payments } from "../resources/payments.ts";
import { dealInput, vatRateIn, type Actor } from "./record-inputs.ts";
import type { Past } from "./past.ts";

/** The kinds in the order in which they are made from each other, and how often. */
const chain = [
  { kind: "quotation", from: null, often: 0 },
  { kind: "order", from: "quotation", often: 0.5 },
  { kind: "proforma", from: "order", often: 0.5 },
  { kind: "invoice", from: "proforma", often: 0.35 },
  { kind: "credit-note", from: "invoice", often: 1 },
] as const;

type Deal = ReturnType<typeof dealInput>;

/** Fills in the documents of all kinds. A document made from another one is about the same deal. */
export function seedDocuments(past: Past): void {
  const { company, volumes, seed } = past;
  const cases = company.tables.business_cases.where(({ contactType }) => contactType === "client");
  const caseOf = new Map(cases.map(({ contactId, id }) => [contactId, id]));
  let deals: readonly Deal[] = [];
  for (const { kind, from, often } of chain) {
    const sources = from ? [...documentsOf(company, from).values()] : [];
    const own: Deal[] = [];
    let last = -1;
    for (const { issueDay, index } of issueDays(past, kind)) {
      // At about the same share of their own list; that of an invoice was written on the same day or before.
      const part = ((kind === "invoice" ? index + 1 : index) * sources.length) / volumes[kind];
      const place = Math.floor(part) - (kind === "invoice" ? 1 : 0);
      const isLinked = place > last && randomFor(seed, `link-${kind}`, index).often(often);
      const source = isLinked ? (sources[place] ?? null) : null;
      if (source) last = place;
      const actor = past.actor(kind, index, issueDay);
      const deal = (source && deals[place]) ?? dealInput(actor);
      own.push(deal);
      const businessCaseId = actor.random.often(0.3) ? caseOf.get(deal.clientId) : null;
      if (kind === "credit-note") seedCreditNote(actor, source, issueDay, index);
      else seedDocument(actor, kind, source, { ...deal, businessCaseId }, issueDay);
    }
    deals = own;
  }
}

/**
 * The day of the issue of every document of a kind, in the order of their ids, which grow with the day of writing.
 * One in seven was issued a few days before, in the same year. Numbers begin anew with each year.
 */
function* issueDays(past: Past, kind: DocumentKind): Generator<{ index: number; issueDay: number }> {
  const { seed, today, volumes } = past;
  const series = past.company.tables.numerical_series;
  let year = 0;
  for (let index = 0; index < volumes[kind]; index++) {
    const writtenDay = past.dayOf(index, volumes[kind], today);
    if (yearOf(writtenDay) !== year) {
      year = yearOf(writtenDay);
      for (const one of series.where(({ documentKind, isDefault }) => documentKind === kind && isDefault))
        series.replace({ ...one, nextNumber: 1 });
    }
    const random = randomFor(seed, `issue-${kind}`, index);
    const backdated = random.often(0.15) ? writtenDay - random.int(1, 4) : writtenDay;
    yield { index, issueDay: Math.max(firstDayOfYear(year), backdated) };
  }
}

function seedDocument(
  actor: Actor,
  kind: Exclude<DocumentKind, "credit-note">,
  source: BookRow | null,
  deal: Deal & { businessCaseId: number | null | undefined },
  issueDay: number,
): void {
  const { company, random } = actor;
  const late = random.often(0.3) ? random.int(1, 10) : 0;
  const document = documents[kind].create(company, {
    ...deal,
    issueDate: dateOf(issueDay),
    deliveryDate: dateOf(issueDay - late),
    dueDateDays: random.pick([7, 14, 14, 14, 30, 60]),
    ...(source && { [`${source.kind}Id`]: source.id }),
    items: deal.items.map((item) => ({ ...item, vatRate: vatRateIn(yearOf(issueDay), item.vatRate) })),
  });
  const table = documentsOf(company, kind);
  if (source?.kind === "quotation") company.tables.quotations.replace({ ...source, answer: "accepted" });
  if (kind === "quotation" && random.often(0.3)) table.replace({ ...document, answer: "rejected" });
  else if (random.often(0.03)) table.replace({ ...document, willBePaid: false });
  // Of three proformas with an invoice, two were paid before: their invoice is a payment receipt.
  if (kind === "invoice" && source && source.id % 3 !== 1) receiptPayments(actor, source, document);
}

/** Makes an invoice the tax document of its proforma's payments, with the same lines and rates of VAT. */
function receiptPayments(actor: Actor, proforma: BookRow, invoice: BookRow): void {
  const { company } = actor;
  const { document_payments: table } = company.tables;
  const issueDate = proforma.issueDate > invoice.issueDate ? proforma.issueDate : invoice.issueDate;
  pay(actor, proforma, dayOf(issueDate), true);
  const paid = paymentsOf(company, proforma).toReversed();
  for (const payment of paid) {
    table.replace({ ...payment, receiptInvoiceId: invoice.id });
    const { id: _, ...own } = payment;
    table.add({ ...own, documentKind: "invoice", documentId: invoice.id });
  }
  documentsOf(company, "invoice").replace({
    ...invoice,
    type: "payment_receipt",
    willBePaid: true,
    issueDate,
    dueDate: issueDate,
    deliveryDate: paid.at(-1)?.paymentDate ?? issueDate,
    discountType: proforma.discountType,
    discountValue: proforma.discountValue,
    items: invoice.items.map((item, i) => ({ ...item, vatRate: proforma.items[i]?.vatRate ?? item.vatRate })),
  });
}

/** Takes a whole invoice back; every second time only its first line. */
function seedCreditNote(actor: Actor, invoice: BookRow | null, issueDay: number, index: number): void {
  const { company, random } = actor;
  if (!invoice) return;
  const issueDate = dateOf(Math.max(issueDay, dayOf(invoice.issueDate)));
  const dueDate = dateOf(dayOf(issueDate) + random.pick([7, 14, 30]));
  const note = creditInvoice(company, invoice, { issueDate, dueDate });
  const items = index % 2 === 1 ? note.items.slice(0, 1) : note.items;
  company.tables.credit_notes.replace({ ...note, items });
}

/** Pays most of the documents. A proforma with an invoice that is no receipt was never paid. */
export function seedPayments(past: Past): void {
  const { company, today } = past;
  for (const kind of payableKinds) {
    for (const [index, document] of [...documentsOf(company, kind).values()].entries()) {
      const isReplaced =
        kind === "proforma" && company.tables.invoices.findBy("proformaId", document.id).length > 0;
      if (isReplaced || document.type === "payment_receipt") continue;
      pay(past.actor(`paid-${kind}`, index, today), document, today, false);
    }
  }
}

/** Most are paid, in one payment or two; some are not, unless all of it has to be; no payment is after `lastDay`. */
function pay({ company, random }: Actor, document: BookRow, lastDay: number, isWhole: boolean): void {
  const share = random.next();
  const firstDay = dayOf(document.issueDate) + random.int(1, 25);
  const secondDay = firstDay + random.int(1, 30);
  const isPart = share >= 0.6 && share <= 0.86;
  if (!isWhole && (!document.willBePaid || firstDay > lastDay || share > 0.86)) return;
  const gross = totalsOf(document).gross;
  const first = isPart ? divide(gross * BigInt(random.pick([20, 30, 50, 65])), 100n) : gross;
  const isSecond = isPart && (isWhole || (share < 0.7 && secondDay <= lastDay));
  const parts = isSecond ? [first, gross - first] : [first];
  for (const [turn, amountCents] of parts.entries())
    payments.add(company, {
      documentKind: document.kind,
      documentId: document.id,
      ...pick(document, ["paymentMethodId", "currencyId", "currencyRate"]),
      paymentDate: dateOf(Math.min(turn === 0 ? firstDay : secondDay, lastDay)),
      amountCents,
      receiptInvoiceId: null,
    });
}
