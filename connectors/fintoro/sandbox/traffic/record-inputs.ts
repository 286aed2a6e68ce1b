import { dateOf, dayOf } from "../base/calendar.ts";
import { centsToNumber, decimal, toNumber } from "../base/decimal-money.ts";
import { iban } from "../base/identifiers.ts";
import { documentsOf } from "../domain/company-state.ts";
import { balanceOf } from "../domain/documents/payment-rules.ts";
import { creditInvoice } from "../domain/documents/writes.ts";
import { nextReceiptNumber, type Side } from "../domain/warehouse/receipts.ts";
import { documentKinds, documentTable, payableKinds, type TableName } from "../model/catalogue.ts";
import type { ActivityLog, Document } from "../model/company-records.ts";
import type { Receipt, Warehouse } from "../model/warehouse-records.ts";
import { Missing } from "../rules/problems.ts";
import * as words from "../seed/sample-words.ts";
import type { Actor } from "./actor.ts";

/** What is sent to create a record of each table. */
const creations: Readonly<Partial<Record<TableName, (actor: Actor) => unknown>>> = {
  clients: party,
  suppliers: party,
  bank_accounts: ({ random }) => {
    const name = `Účet ${random.int(2, 999)}`;
    return { name, iban: iban("SK", "1100", random.digits(10)), swift: "TATRSKBX" };
  },
  business_case_statuses: ({ random }) => ({ name: `Stav ${random.hex(4)}`, color: `#${random.hex(6)}` }),
  business_cases: (actor) => {
    const statusId = actor.find("business_case_statuses")?.id;
    return { name: actor.random.pick(words.caseTopics), clientId: actor.any("clients").id, statusId };
  },
  contact_activity_logs: activityLog,
  warehouses: newWarehouse,
  warehouse_inbound_receipts: (actor) => inboundReceiptInput(actor, null),
  warehouse_outbound_receipts: outboundReceipt,
  price_list_items: priceListItem,
  invoices: (actor) => newDocument(actor, actor.random.often(0.3)),
  proformas: newDocument,
  orders: newDocument,
  quotations: newDocument,
  document_payments: partPayment,
};

/**
 * Creates one record of the table, as a person at work would; gives its id.
 *
 * @throws Invalid, Missing where the rules or the company's records do not allow it
 */
export function createRecord(actor: Actor, table: TableName): number {
  const { company } = actor;
  if (table === "credit_notes")
    return actor.withAny(
      "invoices",
      (id) => creditInvoice(company, company.tables.invoices.get(id) as Document, {}).id,
    );
  const input = creations[table];
  if (!input) throw new Missing();
  return actor.create(table, input(actor));
}

function party({ random }: Actor) {
  const { trades, ownNames, streets, cities } = words.slovakWords;
  const name = `${random.pick(trades)} ${random.pick(ownNames)} ${random.int(2, 999)}, s. r. o.`;
  const street = `${random.pick(streets)} ${random.int(1, 120)}`;
  const [city, zip] = [random.pick(cities), random.digits(5)];
  return { name, type: "company", street, city, zip, countryId: 703 };
}

function activityLog(actor: Actor) {
  const [content, clientId] = [actor.random.pick(words.callNotes), actor.any("clients").id];
  if (actor.random.often(0.5)) return { clientId, type: "note", metadata: { content } };
  const metadata = { content, personName: "Eva Nováková", phoneNumber: "+421 900 000 000" };
  return { clientId, type: "phone_call", metadata };
}

function newWarehouse({ random }: Actor) {
  const code = `S${random.hex(6).toUpperCase()}`;
  return {
    name: `Sklad ${code}`,
    code,
    inboundNumericalSeriesPattern: `P${code}(CCCC)`,
    inboundNumericalSeriesNextNumber: 1,
    outboundNumericalSeriesPattern: `V${code}(CCCC)`,
    outboundNumericalSeriesNextNumber: 1,
  };
}

function priceListItem({ random }: Actor) {
  const [name] = random.pick(words.goods);
  const stocked = { useWarehouse: true, warehouseCode: `T-${random.hex(8)}` };
  return { name, unitPrice: random.int(100, 9_999) / 100, unitId: 1, vatRate: 23, ...stocked };
}

/** One to four lines of services, and one of goods out of a warehouse where they are wanted and there. */
function newDocument(actor: Actor, withGoods = false) {
  const { random } = actor;
  const items: unknown[] = Array.from({ length: random.int(1, 4) }, () => {
    const [name] = random.pick(words.services);
    return { name, quantity: random.int(1, 12), unitPrice: random.int(500, 25_000) / 100, vatRate: 23 };
  });
  const stock = withGoods ? someStock(actor) : null;
  if (stock) {
    const { priceListItemId, warehouse, quantity } = stock;
    const warehouseAllocations = [{ warehouseId: warehouse.id, quantity }];
    items.push({ priceListItemId, quantity, warehouseAllocations });
  }
  return { clientId: actor.any("clients").id, items };
}

/** One to five pieces of some item, and the warehouse they are in; null where there is nothing. */
function someStock({ company, random }: Actor) {
  const { price_list_items: items, warehouses } = company.tables;
  const stocked = items.where(({ useWarehouse }) => useWarehouse);
  const levels = stocked.flatMap(({ id: priceListItemId }) =>
    [...company.stock.of(priceListItemId)].flatMap(([warehouseId, level]) => {
      const warehouse = warehouses.get(warehouseId);
      return warehouse && level >= decimal(1) ? [{ priceListItemId, warehouse, level }] : [];
    }),
  );
  if (levels.length === 0) return null;
  const { priceListItemId, warehouse, level } = random.pick(levels);
  return { priceListItemId, warehouse, quantity: random.int(1, Math.min(5, Math.floor(toNumber(level)))) };
}

function receiptHead({ company }: Actor, side: Side, warehouse: Warehouse) {
  const issueDate = dateOf(company.settings.today);
  const number = nextReceiptNumber(company, side, warehouse);
  return { number, warehouseId: warehouse.id, languageId: 1, issueDate };
}

/** Goods that come in: of one item, or of any that is kept in a warehouse. */
export function inboundReceiptInput(actor: Actor, itemId: number | null) {
  const priceListItemId = itemId ?? actor.any("price_list_items", ({ useWarehouse }) => useWarehouse).id;
  const supplierId = actor.find("suppliers")?.id;
  const items = [{ priceListItemId, quantity: actor.random.int(1, 40), unitPrice: 1.5, vatRate: 23 }];
  return { ...receiptHead(actor, "inbound", actor.any("warehouses")), supplierId, items };
}

function outboundReceipt(actor: Actor) {
  const stock = someStock(actor);
  if (!stock) throw new Missing();
  const { priceListItemId, quantity, warehouse } = stock;
  const items = [{ priceListItemId, quantity, unitPrice: 2.5, vatRate: 23 }];
  return { ...receiptHead(actor, "outbound", warehouse), clientId: actor.any("clients").id, items };
}

/** Half of what is left to pay of some document; a rest of one cent whole. */
function partPayment({ company, random }: Actor) {
  const open = payableKinds.flatMap((documentType) =>
    [...documentsOf(company, documentType).values()].flatMap((one) => {
      const { toBePaid: cents, status } = balanceOf(company, one);
      return cents === 0n || status === "paid" ? [] : [{ documentType, documentId: one.id, cents }];
    }),
  );
  if (open.length === 0) throw new Missing();
  const { cents, ...document } = random.pick(open);
  return { ...document, amount: centsToNumber(cents / 2n || cents) };
}

/** Changes something about the record, and leaves the rest as it is. */
export function changeRecord(actor: Actor, table: TableName, id: number): void {
  const known = actor.company.tables[table].get(id);
  const input = changes[table];
  if (!known || !input) throw new Missing();
  actor.write("PUT", table, id, input(actor, known as never, actor.random.int(1, 99_999)));
}

/** What is sent for a record; `mark` makes it differ from before. */
type Change = (actor: Actor, record: never, mark: number) => unknown;

const changes: Readonly<Partial<Record<TableName, Change>>> = {
  clients: newStreet,
  suppliers: newStreet,
  bank_accounts: (_actor, _account, mark) => ({ name: `Účet ${mark}` }),
  business_case_statuses: ({ random }, status: object) => ({ ...status, color: `#${random.hex(6)}` }),
  business_cases: (actor, _case, mark) => ({
    description: `Dohodnuté ${mark}`,
    statusId: actor.any("business_case_statuses").id,
  }),
  contact_activity_logs: newContent,
  warehouses: (_actor, warehouse: object, mark) => ({ ...warehouse, name: `Sklad ${mark}` }),
  warehouse_inbound_receipts: newReceiptNote,
  warehouse_outbound_receipts: newReceiptNote,
  price_list_items: (_actor, item: object, mark) => ({ ...item, unitPrice: mark / 100 }),
  ...Object.fromEntries(documentKinds.map((kind) => [documentTable[kind], newDocumentNote])),
};

function newStreet({ random }: Actor, contact: object, mark: number) {
  return { ...contact, street: `${random.pick(words.slovakWords.streets)} ${mark}` };
}

/** Of a type that holds a text: logs made by documents have none. */
function newContent(_actor: Actor, { type, metadata }: ActivityLog, mark: number) {
  if (metadata.documentId !== undefined || type === "document_linked") throw new Missing();
  return { metadata: { ...withoutNulls(metadata), content: `Dohodnuté ${mark}` } };
}

/** Each side takes only the id of its own partner. */
function newReceiptNote(_actor: Actor, { partnerId, lines: items, ...receipt }: Receipt, mark: number) {
  return { ...receipt, note: `Poznámka ${mark}`, supplierId: partnerId, clientId: partnerId, items };
}

/** The whole document again, with another note, and every second time one piece more of its first line. */
function newDocumentNote({ random }: Actor, document: Document) {
  const { issueDate, dueDate } = document;
  const more = random.often(0.5) ? 1 : 0;
  const items = document.items.map(({ allocations, ...item }, index) => {
    if (allocations.length > 0) return { ...item, warehouseAllocations: allocations };
    return { ...item, quantity: item.quantity + (index === 0 ? more : 0) };
  });
  return withoutNulls({
    ...document,
    numericalSeriesId: null,
    client: null,
    items,
    note: `Upravené ${random.int(1, 99_999)}`,
    dueDateDays: dueDate === null ? null : dayOf(dueDate) - dayOf(issueDate),
  });
}

/** Fields that are not sent are resolved as at a creation. */
function withoutNulls(input: object) {
  return Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== null && value !== undefined),
  );
}
