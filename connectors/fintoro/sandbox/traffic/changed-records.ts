import { dayOf } from "../base/calendar.ts";
import type { TableName } from "../model/catalogue.ts";
import type { ActivityLog, Document } from "../model/company-records.ts";
import type { Receipt } from "../model/warehouse-records.ts";
import { Missing } from "../rules/refusals.ts";
import { slovakWords } from "../seed/sample-words.ts";
import type { Actor } from "./actor.ts";

/** Changes something about the record, and leaves the rest as it is. */
export function changeRecord(actor: Actor, table: TableName, id: number): void {
  const known = actor.company.tables[table].get(id);
  const input = inputs[table];
  if (!known || !input) throw new Missing();
  actor.write("PUT", table, id, input(actor, known as never, actor.random.int(1, 99_999)));
}

/** What is sent for a record; `mark` makes it differ from before. */
type Input = (actor: Actor, record: never, mark: number) => unknown;

const inputs: Readonly<Partial<Record<TableName, Input>>> = {
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
  warehouse_inbound_receipts: newReceiptNote("supplierId"),
  warehouse_outbound_receipts: newReceiptNote("clientId"),
  price_list_items: (_actor, item: object, mark) => ({ ...item, unitPrice: mark / 100 }),
  invoices: newDocumentNote,
  credit_notes: newDocumentNote,
  proformas: newDocumentNote,
  orders: newDocumentNote,
  quotations: newDocumentNote,
};

function newStreet({ random }: Actor, contact: object, mark: number) {
  return { ...contact, street: `${random.pick(slovakWords.streets)} ${mark}` };
}

/** Of a type that holds a text: logs made by documents have none. */
function newContent(_actor: Actor, { type, metadata }: ActivityLog, mark: number) {
  if (metadata.documentId !== undefined || type === "document_linked") throw new Missing();
  return { metadata: { ...withoutNulls(metadata), content: `Dohodnuté ${mark}` } };
}

function newReceiptNote(partner: "supplierId" | "clientId") {
  return (_actor: Actor, receipt: Receipt, mark: number) => {
    const { number, warehouseId, languageId, issueDate, partnerId, lines: items } = receipt;
    const note = `Poznámka ${mark}`;
    return { number, warehouseId, languageId, issueDate, note, [partner]: partnerId, items };
  };
}

/** The whole document again, with another note, and every second time one piece more of its first line. */
function newDocumentNote({ random }: Actor, document: Document) {
  const { issueDate, dueDate, sources } = document;
  const more = random.often(0.5) ? 1 : 0;
  const items = document.items.map(({ allocations, ...item }, index) => {
    if (allocations.length > 0) return { ...item, warehouseAllocations: allocations };
    return { ...item, quantity: item.quantity + (index === 0 ? more : 0) };
  });
  return withoutNulls({
    ...document,
    numericalSeriesId: null,
    client: null,
    ...sources,
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
