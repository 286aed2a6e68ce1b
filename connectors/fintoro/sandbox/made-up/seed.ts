import { dateOf, dayOf, firstDayOfYear, momentOf, yearOf } from "../base/calendar.ts";
import { centsToNumber, divide } from "../base/decimal-money.ts";
import { randomFor } from "../base/seeded-random.ts";
import { pick } from "../base/values.ts";
import { documentKinds, payableKinds, type TableName } from "../model/catalogue.ts";
import { documentsOf, publicOrigin, type Company } from "../model/company.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { BookRow, DocumentKind } from "../model/rows.ts";
import { writable } from "../resources/all-routes.ts";
import { paymentsOf, totalsOf } from "../resources/balance.ts";
import { creditInvoice, documents } from "../resources/documents.ts";
import { payments } from "../resources/payments.ts";
import { receipts } from "../resources/stock.ts";
import words from "../samples/words.json" with { type: "json" };
import { activityInput, Actor, dealInput, inboundInput } from "./record-inputs.ts";
import { newRecords, outboundInput, vatRateIn } from "./record-inputs.ts";

/** What documents show of the company at an index. */
export function companySnapshot(index: number) {
  const { name, subjectId } = words.companies[index % words.companies.length]!;
  const isNamed = index < words.companies.length;
  const taxId = String(2_020_099_994 + index * 11);
  return {
    ...words.companyProfile,
    name: isNamed ? name : `${name} ${index + 1}`,
    legalForm: /a\. ?s\./.test(name) ? "Akciová spoločnosť" : "Spoločnosť s ručením obmedzeným",
    street: `Mlynské nivy ${16 + index}`,
    subjectId: isNamed ? subjectId : String(40_000_000 + index),
    taxId,
    vatId: `SK${taxId}`,
    logo: `${publicOrigin}/media/logo-${index + 1}.svg`,
    registrationNumber: `${12_345 + index}/B`,
  };
}

const shares = { invoice: 50, order: 15, quotation: 15, proforma: 14, "credit-note": 6 };

/** The number of records of each kind: so many documents, everything else in proportion. */
function volumesOf(size: number) {
  const some = (least: number, share: number, most = Number.MAX_SAFE_INTEGER) =>
    size === 0 ? 0 : Math.min(most, Math.max(least, Math.ceil(size * share)));
  // What rounding leaves goes to the kinds in turn.
  const counts = Object.values(shares).map((share) => Math.floor((size * share) / 100));
  const left = size - counts.reduce((sum, count) => sum + count, 0);
  const kinds = Object.keys(shares).map((kind, i) => [kind, (counts[i] ?? 0) + (i < left ? 1 : 0)]);
  return {
    ...(Object.fromEntries(kinds) as Record<DocumentKind, number>),
    clients: some(12, 0.5, 20_000),
    suppliers: some(6, 0.05, 5_000),
    bank_accounts: some(4, 0, 4),
    business_case_statuses: some(6, 0, 6),
    business_cases: some(9, 1 / 15),
    contact_activity_logs: some(48, 1 / 3),
    warehouses: some(3, 0, 3),
    warehouse_inbound_receipts: some(8, 0.05),
    price_list_items: some(20, 0.05, 20_000),
    webhook_subscriptions: some(2, 0, 2),
  } satisfies Partial<Record<DocumentKind | TableName, number>>;
}

/** A company while its past is made up: each record at its own moment, with its own random numbers, unheard. */
function pastOf(company: Company, seed: number, size: number) {
  const { today } = company;
  /** Documents are from two whole years and the running one. */
  const firstDay = firstDayOfYear(yearOf(today) - 2);
  const events = { ...company.events, append: () => undefined };
  return {
    company,
    seed,
    today,
    firstDay,
    volumes: volumesOf(size),
    /** Who makes the record at an index of a topic, on a day. */
    actor: (topic: string, index: number, day: number) => {
      const random = randomFor(seed, topic, index);
      const momentMs = momentOf(day, random.int(420, 1100)) + random.int(0, 59) * 1000;
      return new Actor({ ...company, today: day, random, nowMs: () => momentMs, events }, random);
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

/** Creates the records of a table as people do; `alter` adds what no request can say. */
function seedTable(
  past: Past,
  table: keyof typeof writable & keyof Past["volumes"],
  alter: (record: BookRow, index: number) => Partial<BookRow> = () => ({}),
): void {
  const { volumes, firstDay } = past;
  for (let index = 0; index < volumes[table]; index++) {
    const actor = past.actor(table, index, firstDay + (index % 200));
    const record = writable[table].create(actor.company, newRecords[table]?.(actor, index));
    past.company.tables[table].replace({ ...record, ...alter(record, index) });
  }
}

/** Fills in everything but documents, payments and CRM events. */
function seedBasics(past: Past): void {
  const { today, seed, volumes } = past;
  // The first account is the primary one and connected to its bank.
  seedTable(past, "bank_accounts", () => ({ isPrimary: false }));
  const [account] = past.company.tables.bank_accounts.values();
  const balance = randomFor(seed, "balance", 0).int(100, 9_000_000) / 100;
  const openBanking = { balance, syncedAtMs: momentOf(today - 1, 300), until: dateOf(today + 60) };
  if (account) past.company.tables.bank_accounts.replace({ ...account, isPrimary: true, openBanking });
  seedTable(past, "warehouses");
  // Seeded records must never send anything anywhere: subscriptions are not active.
  seedTable(past, "webhook_subscriptions", ({ createdAtMs }, index) => ({
    lastSuccessAtMs: index === 0 ? createdAtMs + 86_400_000 : null,
  }));
  seedTable(past, "clients");
  seedTable(past, "suppliers");
  seedTable(past, "price_list_items");
  for (let index = 0; index < volumes.warehouse_inbound_receipts; index++) seedReceipts(past, index);
  seedTable(past, "business_case_statuses");
  seedTable(past, "business_cases");
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

type Deal = ReturnType<typeof dealInput>;

/** Fills in the documents of all kinds. A document made from another one is about the same deal. */
function seedDocuments(past: Past): void {
  const { company, volumes, seed } = past;
  const cases = [...company.tables.business_cases.values()];
  const caseOf = new Map(cases.map(({ clientId, id }) => [clientId, id]));
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
