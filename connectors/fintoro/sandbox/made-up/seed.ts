import { dateOf, momentOf, yearOf } from "../base/calendar.ts";
import { centsToNumber } from "../base/decimal-money.ts";
import { businessId, formatNumber } from "../base/identifiers.ts";
import { randomFor } from "../base/seeded-random.ts";
import { documentKinds } from "../model/catalogue.ts";
import { publicOrigin, type Company } from "../model/company.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { BookRow } from "../model/rows.ts";
import { writable } from "../resources/all-routes.ts";
import { totalsOf } from "../resources/balance.ts";
import { receipts, type Side } from "../resources/stock.ts";
import words from "../samples/words.json" with { type: "json" };
import { seedDocuments, seedPayments } from "./document-seed.ts";
import { pastOf, type Past } from "./past.ts";
import { activityInput, newRecords } from "./record-inputs.ts";

/** What documents show of the company at an index. */
export function companySnapshot(index: number) {
  const { name, subjectId } = words.companies[index % words.companies.length]!;
  const isNamed = index < words.companies.length;
  const taxId = String(2_020_100_000 - (2_020_100_000 % 11) + index * 11);
  return {
    name: isNamed ? name : `${name} ${index + 1}`,
    subjectId: businessId(isNamed ? subjectId.slice(0, 7) : String(4_000_000 + index)),
    legalForm: /a\. ?s\./.test(name) ? "Akciová spoločnosť" : "Spoločnosť s ručením obmedzeným",
    taxId,
    vatId: `SK${taxId}`,
    street: `Mlynské nivy ${16 + index}`,
    logo: `${publicOrigin}/media/logo-${index + 1}.svg`,
    ...words.companyProfile,
    registrationNumber: `${12_345 + index}/B`,
  };
}

/** Fills an empty company with a made-up past: the same seed and day make the same records. */
export function seedCompany(company: Company, seed: number, documents: number): void {
  const past = pastOf(company, seed, documents);
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
  const { volumes, today } = past;
  const day = past.dayOf(index, volumes.warehouse_inbound_receipts, today - 1);
  const actor = past.actor("receipt", index, day);
  const { random } = actor;
  const warehouse = random.often(0.6)
    ? actor.any("warehouses")
    : random.pick([...actor.company.tables.warehouses.values()]);
  const head = (side: Side, partner: object) => ({
    number: formatNumber(warehouse[`${side}NumericalSeriesPattern`], day, index + 1),
    warehouseId: warehouse.id,
    languageId: 1,
    issueDate: dateOf(day),
    note: random.often(0.2) ? "Chýba dodací list; doplniť." : null,
    ...(random.often(0.9) && partner),
  });
  const stocked = Array.from({ length: random.int(1, 4) }, () =>
    actor.any("price_list_items", ({ useWarehouse }) => useWarehouse),
  );
  const items = [...new Set(stocked)].map(({ id, purchasePrice, vatRate }) => {
    return { priceListItemId: id, quantity: random.int(5, 120), unitPrice: purchasePrice, vatRate };
  });
  const input = { ...head("inbound", { supplierId: actor.any("suppliers").id }), items };
  const { items: lines } = receipts.inbound.create(actor.company, input);
  const taken = lines.slice(0, random.int(1, lines.length)).map((line) => {
    const quantity = random.int(1, Math.min(15, line.quantity - 1));
    return { ...line, quantity, unitPrice: line.unitPrice * 2 };
  });
  const outgoing = { ...head("outbound", { clientId: actor.any("clients").id }), items: taken };
  receipts.outbound.create(actor.company, outgoing);
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
