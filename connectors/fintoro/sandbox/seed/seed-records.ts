import { dateOf, momentOf, yearOf } from "../base/calendar.ts";
import { centsToNumber } from "../base/decimal-money.ts";
import { formatNumber } from "../base/identifiers.ts";
import { randomFor } from "../base/seeded-random.ts";
import { totalsOf } from "../documents/balance.ts";
import { documentKinds, type TableName } from "../model/catalogue.ts";
import type { RecordOf } from "../model/company-state.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { ActivityMetadata, Document } from "../model/records.ts";
import { receipts, type Side } from "../collections/receipts.ts";
import { writable } from "../routes/all-routes.ts";
import { activityInput, newRecords } from "../samples/record-inputs.ts";
import { activityTypes, files } from "../samples/sample-words.ts";
import type { Past } from "./seed-plan.ts";

type Seeded = Exclude<TableName & keyof Past["plan"]["volumes"], "contact_activity_logs">;

/** Creates the records of a table as people do; `alter` adds what no request can say. */
function seedTable<K extends Seeded>(
  past: Past,
  table: K,
  alter: (record: RecordOf<K>, index: number) => Partial<RecordOf<K>> = () => ({}),
): void {
  const { volumes, firstDay } = past.plan;
  for (let index = 0; index < volumes[table]; index++) {
    const actor = past.actor(table, index, firstDay + (index % 200));
    const record = writable[table].create(actor.company, newRecords[table]?.(actor, index));
    past.company.tables[table].replace({ ...record, ...alter(record, index) });
  }
}

/** Fills in everything but documents, payments and CRM events. */
export function seedBasics(past: Past): void {
  const { today, seed, volumes } = past.plan;
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
  const { volumes, today } = past.plan;
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
  const { lines } = receipts.inbound.create(actor.company, input);
  const taken = lines.slice(0, random.int(1, lines.length)).map((line) => {
    return {
      ...line,
      quantity: random.int(1, Math.min(15, line.quantity - 1)),
      unitPrice: line.unitPrice * 2,
    };
  });
  const outgoing = { ...head("outbound", { clientId: actor.any("clients").id }), items: taken };
  receipts.outbound.create(actor.company, outgoing);
}

/** A default number series for each kind of document, and one for export. */
function seedSeries({ plan, company }: Past): void {
  for (const isDefault of [true, false]) {
    for (const [place, documentKind] of documentKinds.entries()) {
      const { series, prefix } = texts[documentKind];
      const digits = Math.max(3, String(plan.volumes[documentKind]).length);
      const usual = `${prefix}(${"C".repeat(digits)})`;
      company.tables.numerical_series.add((id) => ({
        id,
        documentKind,
        name: `${series} ${isDefault ? yearOf(plan.today) : "– export"}`,
        pattern: isDefault ? usual : `EX${place + 1}-(RRRR)-(MM)(CCCC)`,
        nextNumber: 1,
        isDefault,
      }));
    }
  }
}

const wantedTypes = activityTypes.split(" ");
const attached = files.map(([name, mimeType, text]) => ({ name, mimeType, content: Buffer.from(text) }));

/** Fills in CRM events, some about an invoice, also of the types that only the web application makes. */
export function seedActivities(past: Past): void {
  const { contact_activity_logs: count } = past.plan.volumes;
  const { tables, settings } = past.company;
  for (let index = 0; index < count; index++) {
    const actor = past.actor("activity", index, past.dayOf(index, count, past.plan.today - 1));
    const wanted = wantedTypes[index % wantedTypes.length] ?? "note";
    const input = activityInput(actor, wanted.startsWith("document") ? "document_linked" : wanted);
    const log = writable.contact_activity_logs.create(actor.company, input);
    const invoice = tables.invoices.get(log.metadata.documentId ?? 0);
    const attachments = index % 4 === 0 && !invoice ? attached.slice(0, actor.random.int(1, 3)) : [];
    tables.contact_activity_logs.replace({
      ...log,
      ...(invoice && { type: wanted, metadata: snapshotMetadata(wanted, invoice) }),
      attachments: attachments.map((file) => ({ id: settings.nextPartId++, ...file })),
    });
  }
}

function snapshotMetadata(type: string, invoice: Document): ActivityMetadata {
  const about = { documentKind: "invoice", documentId: invoice.id } as const;
  const price = centsToNumber(totalsOf(invoice).gross);
  const currency = { currencySnapshotId: invoice.currencyId };
  if (type === "document_linked") return about;
  if (type === "document_payment_added") return { ...about, ...currency, paidAmount: price };
  const snapshots = { ...about, ...currency, numberSnapshot: invoice.number };
  return type === "document_deleted" ? snapshots : { ...snapshots, priceSnapshot: price };
}
