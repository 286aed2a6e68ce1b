import { dateOf, dayOf, firstDayOfYear, momentOf, yearOf } from "../base/calendar.ts";
import { centsToNumber, divide } from "../base/decimal-money.ts";
import { randomFor } from "../base/seeded-random.ts";
import { nameList, pick } from "../base/values.ts";
import { documentKinds, payableKinds, type DocumentKind } from "../model/catalogue.ts";
import { documentsOf, publicOrigin, type Company, type BookRow } from "../model/company.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import { writable } from "../resources/all-routes.ts";
import { paymentsOf, totalsOf } from "../resources/balance.ts";
import { creditInvoice, documents } from "../resources/documents.ts";
import { payments } from "../resources/payments.ts";
import { receipts } from "../resources/stock.ts";
import words from "../samples/words.json" with { type: "json" };
import {
  activityInput,
  actorIn,
  dealInput,
  inboundInput,
  newRecords,
  outboundInput,
  type Actor,
} from "./record-inputs.ts";

export function companySnapshot(index: number) {
  const known = words.companies[index % words.companies.length]!;
  const copy = { name: `${known.name} ${index + 1}`, subjectId: String(40_000_000 + index) };
  const taxId = String(2_020_099_994 + index * 11);
  const logo = `${publicOrigin}/media/logo-${index + 1}.svg`;
  const isCopy = index >= words.companies.length;
  return { ...words.companyProfile, ...known, ...(isCopy && copy), taxId, vatId: `SK${taxId}`, logo };
}

/** The number of records of each kind: so many documents, everything else in proportion. */
function volumesOf(size: number) {
  const counts = Object.values(words.percents).map((percent) => Math.floor((size * percent) / 100));
  // What rounding leaves goes to the kinds in turn.
  const left = size - counts.reduce((sum, count) => sum + count, 0);
  const kinds = Object.keys(words.percents).map((kind, i) => [kind, (counts[i] ?? 0) + (i < left ? 1 : 0)]);
  const others = Object.entries(words.volumes).map(([table, [least = 0, part = 0, most = 0]]) => {
    return [table, size === 0 ? 0 : Math.min(most, Math.max(least, Math.ceil(size * part)))];
  });
  return Object.fromEntries([...kinds, ...others]) as Record<
    DocumentKind | keyof typeof words.volumes,
    number
  >;
}

/** A company while its past is made up: each record at its own moment, with its own random numbers, unheard. */
function pastOf(company: Company, seed: number, size: number) {
  const { today } = company;
  /** Documents are from two whole years and the running one. */
  const firstDay = firstDayOfYear(yearOf(today) - 2);
  const events = { ...company.events, append: () => undefined };
  return {
    company,
    today,
    firstDay,
    volumes: volumesOf(size),
    /** Who makes the record at an index of a topic, on a day. */
    actor: (topic: string, index: number, day: number) => {
      const random = randomFor(seed, topic, index);
      const momentMs = momentOf(day, random.int(420, 1100)) + random.int(0, 59) * 1000;
      return actorIn({ ...company, today: day, random, nowMs: () => momentMs, events }, random);
    },
    /** The day of the record at an index, where `count` are spread evenly up to `lastDay`. */
    dayOf: (index: number, count: number, lastDay: number) =>
      firstDay + Math.floor(((index + 1) / count) * (lastDay - firstDay)),
  };
}
type Past = ReturnType<typeof pastOf>;

/** Fills an empty company with a made-up past: the same seed and day make the same records. */
export function seedCompany(company: Company, seed: number, size: number): void {
  const past = pastOf(company, seed, size);
  // A step reads what the steps before it have filled in.
  for (const step of [seedBasics, seedDocuments, seedPayments, seedActivities]) step(past);
}

function seedTables({ volumes, firstDay, actor }: Past, ...tables: (keyof typeof words.volumes)[]): void {
  for (const table of tables) {
    for (let index = 0; index < volumes[table]; index++) {
      const one = actor(table, index, firstDay + (index % 200));
      writable[table].create(one.company, newRecords[table]?.(one, index));
    }
  }
}

/** Fills in everything but documents, payments and CRM events. */
function seedBasics(past: Past): void {
  const { today, firstDay, volumes, company } = past;
  seedTables(past, "bank_accounts");
  // The first account is the primary one and connected to its bank.
  const openBanking = { balance: 54_321.09, syncedAtMs: momentOf(today - 1, 300), until: dateOf(today + 60) };
  const [account] = company.tables.bank_accounts.values();
  if (account) {
    const actor = past.actor("primary account", 0, firstDay);
    const primary = writable.bank_accounts.update(actor.company, account, { isPrimary: true });
    company.tables.bank_accounts.replace({ ...primary, openBanking });
  }
  seedTables(past, "warehouses", "webhook_subscriptions", "clients", "suppliers", "price_list_items");
  for (let index = 0; index < volumes.warehouse_inbound_receipts; index++) seedReceipts(past, index);
  seedTables(past, "business_case_statuses", "business_cases");
  seedSeries(past);
}

/** Goods that came in, and a part of them that went out on the same day: no receipt takes more than there is. */
function seedReceipts(past: Past, index: number): void {
  const day = past.dayOf(index, past.volumes.warehouse_inbound_receipts, past.today - 1);
  const actor = past.actor("receipt", index, day);
  const { random } = actor;
  const { items, warehouseId } = receipts.inbound.create(actor.company, inboundInput(actor));
  const taken = items.slice(0, random.int(1, items.length)).map((line) => {
    return { ...line, quantity: random.int(1, Math.min(15, line.quantity)), unitPrice: line.unitPrice * 2 };
  });
  receipts.outbound.create(actor.company, outboundInput(actor, warehouseId, taken));
}

/** A default number series for each kind of document, and one for export. */
function seedSeries({ volumes, today, company }: Past): void {
  for (const isDefault of [true, false]) {
    for (const [place, documentKind] of documentKinds.entries()) {
      const { series, prefix } = texts[documentKind];
      const digits = Math.max(3, String(volumes[documentKind]).length);
      const usual = `${prefix}(${"C".repeat(digits)})`;
      company.tables.numerical_series.add({
        documentKind,
        name: `${series} ${isDefault ? yearOf(today) : "– export"}`,
        pattern: isDefault ? usual : `EX${place + 1}-(RRRR)-(MM)(CCCC)`,
        nextNumber: 1,
        isDefault,
      });
    }
  }
}

const attached = words.files.map((file) => ({ ...file, content: Buffer.from(file.content) }));

/** Fills in CRM events, some about an invoice, also of the types that only the web application makes. */
function seedActivities(past: Past): void {
  const { contact_activity_logs: count } = past.volumes;
  const { tables } = past.company;
  for (let index = 0; index < count; index++) {
    const actor = past.actor("activity", index, past.dayOf(index, count, past.today - 1));
    const wanted = words.activityTypes[index % words.activityTypes.length] ?? "note";
    const input = activityInput(actor, wanted.startsWith("document") ? "document_linked" : wanted);
    const log = writable.contact_activity_logs.create(actor.company, input);
    const invoice = tables.invoices.get(log.metadata.documentId ?? 0);
    const attachments = index % 4 === 0 && !invoice ? attached.slice(0, actor.random.int(1, 3)) : [];
    tables.contact_activity_logs.replace({
      ...log,
      ...(invoice && { type: wanted, metadata: snapshotMetadata(wanted, invoice) }),
      attachments: attachments.map((file) => ({ id: past.company.nextPartId(), ...file })),
    });
  }
}

function snapshotMetadata(type: string, invoice: BookRow): BookRow["metadata"] {
  const about = { documentKind: "invoice", documentId: invoice.id } as const;
  const price = centsToNumber(totalsOf(invoice).gross);
  const currency = { currencySnapshotId: invoice.currencyId };
  if (type === "document_linked") return about;
  if (type === "document_payment_added") return { ...about, ...currency, paidAmount: price };
  const snapshots = { ...about, ...currency, numberSnapshot: invoice.number };
  return type === "document_deleted" ? snapshots : { ...snapshots, priceSnapshot: price };
}

/** The kinds in the order in which they are made from each other, and how often. */
const chain = [
  { kind: "quotation", from: null, often: 0 },
  { kind: "order", from: "quotation", often: 0.5 },
  { kind: "proforma", from: "order", often: 0.5 },
  { kind: "invoice", from: "proforma", often: 0.35 },
  { kind: "credit-note", from: "invoice", often: 1 },
] as const;

/** Fills in the documents of all kinds. A document made from another one is about the same deal. */
function seedDocuments(past: Past): void {
  const { company, volumes, today } = past;
  for (const { kind, from, often } of chain) {
    const sources = from ? [...documentsOf(company, from).values()] : [];
    let [last, year] = [-1, 0];
    for (let index = 0; index < volumes[kind]; index++) {
      const day = past.dayOf(index, volumes[kind], today);
      if (yearOf(day) !== year) restartSeries(company, kind);
      year = yearOf(day);
      const actor = past.actor(kind, index, day);
      const { random } = actor;
      // One in seven was issued a few days before, in the same year.
      const issueDay = Math.max(firstDayOfYear(year), random.often(0.15) ? day - random.int(1, 4) : day);
      // At about the same share of their own list, and written on the same day or before.
      const place = Math.floor(((index + 1) * sources.length) / volumes[kind]) - 1;
      const source = place > last && random.often(often) ? sources[place] : undefined;
      if (source) last = place;
      if (kind !== "credit-note") seedDocument(actor, kind, source, issueDay);
      else if (source) seedCreditNote(actor, source, issueDay, index);
    }
  }
}

/** Numbers begin anew with each year. */
function restartSeries({ tables: { numerical_series: table } }: Company, kind: DocumentKind): void {
  for (const series of table.where(({ documentKind, isDefault }) => documentKind === kind && isDefault))
    table.replace({ ...series, nextNumber: 1 });
}

const slovakVatBefore2025: Readonly<Record<number, number>> = { 23: 20, 19: 10, 5: 10 };

/** What a document takes over from the one it is made from. */
const dealFields = nameList(
  "clientId currencyId languageId transferTaxLiability discountType discountValue paymentMethodId items",
);

function seedDocument(
  actor: Actor,
  kind: Exclude<DocumentKind, "credit-note">,
  source: BookRow | undefined,
  issueDay: number,
): void {
  const { company, random } = actor;
  const deal = source ? pick(source, dealFields) : dealInput(actor);
  const late = random.often(0.3) ? random.int(1, 10) : 0;
  const rates: typeof slovakVatBefore2025 = yearOf(issueDay) < 2025 ? slovakVatBefore2025 : {};
  const [ofClient] = company.tables.business_cases.findBy("clientId", deal.clientId ?? 0);
  const document = documents[kind].create(company, {
    ...deal,
    businessCaseId: random.often(0.3) ? ofClient?.id : null,
    issueDate: dateOf(issueDay),
    deliveryDate: dateOf(issueDay - late),
    dueDateDays: random.pick([7, 14, 14, 14, 30, 60]),
    ...(source && { [`${source.kind}Id`]: source.id }),
    items: deal.items.map(({ vatRate, ...item }) => ({ ...item, vatRate: rates[vatRate] ?? vatRate })),
  });
  const table = documentsOf(company, kind);
  if (source?.kind === "quotation") company.tables.quotations.replace({ ...source, status: "accepted" });
  if (kind === "quotation" && random.often(0.3)) table.replace({ ...document, status: "rejected" });
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
  });
}

/** Takes a whole invoice back; every second time only its first line. */
function seedCreditNote(actor: Actor, invoice: BookRow, issueDay: number, index: number): void {
  const { company, random } = actor;
  const issueDate = dateOf(Math.max(issueDay, dayOf(invoice.issueDate)));
  const dueDate = dateOf(dayOf(issueDate) + random.pick([7, 14, 30]));
  const note = creditInvoice(company, invoice, { issueDate, dueDate });
  const items = index % 2 === 1 ? note.items.slice(0, 1) : note.items;
  company.tables.credit_notes.replace({ ...note, items });
}

/** Pays most of the documents. A proforma with an invoice that is no receipt was never paid. */
function seedPayments(past: Past): void {
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
