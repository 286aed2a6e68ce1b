import { dayOf } from "../base/calendar.ts";
import type { TableName } from "../model/catalogue.ts";
import type { Document } from "../model/company-records.ts";
import type { Receipt } from "../model/warehouse-records.ts";
import { Missing } from "../rules/refusals.ts";
import { streetsSk } from "../seed/sample-words.ts";
import type { Hand } from "./hand.ts";

/** Changes something about the record, and leaves the rest as it stands. */
export function change(hand: Hand, table: TableName, id: number): void {
  const { tables } = hand.company;
  const known = tables[table].get(id);
  if (!known) throw new Missing();
  hand.update(table, id, inputs[table](hand, id, hand.chance.int(1, 99_999)));
}

/** What is sent for the record; `mark` makes it differ from before. */
type Input = (hand: Hand, id: number, mark: number) => unknown;

const documents =
  (table: TableName): Input =>
  (hand, id) =>
    documentInput(hand, hand.company.tables[table as "invoices"].get(id) as Document);
const party =
  (table: TableName): Input =>
  ({ company, chance }, id, mark) => ({
    ...company.tables[table as "clients"].get(id),
    street: `${chance.pick(streetsSk)} ${mark}`,
  });
const receipts =
  (table: "warehouse_inbound_receipts" | "warehouse_outbound_receipts"): Input =>
  ({ company }, id, mark) =>
    receiptInput(company.tables[table].get(id) as Receipt, table, `Poznámka ${mark}`);
const none: Input = () => {
  throw new Missing();
};

const inputs: Readonly<Record<TableName, Input>> = {
  clients: party("clients"),
  suppliers: party("suppliers"),
  bank_accounts: (_hand, _id, mark) => ({ name: `Účet ${mark}` }),
  business_case_statuses: ({ company, chance }, id) => ({
    ...company.tables.business_case_statuses.get(id),
    color: `#${chance.hex(6)}`,
  }),
  business_cases: (hand, _id, mark) => ({
    description: `Dohodnuté ${mark}`,
    statusId: hand.any("business_case_statuses"),
  }),
  contact_activity_logs: logInput,
  warehouses: ({ company }, id, mark) => ({ ...company.tables.warehouses.get(id), name: `Sklad ${mark}` }),
  warehouse_inbound_receipts: receipts("warehouse_inbound_receipts"),
  warehouse_outbound_receipts: receipts("warehouse_outbound_receipts"),
  price_list_items: ({ company }, id, mark) => ({
    ...company.tables.price_list_items.get(id),
    unitPrice: mark / 100,
  }),
  invoices: documents("invoices"),
  credit_notes: documents("credit_notes"),
  proformas: documents("proformas"),
  orders: documents("orders"),
  quotations: documents("quotations"),
  document_payments: none,
  webhook_subscriptions: none,
};

/** Of a type that holds a text: those made by documents have none. */
function logInput({ company }: Hand, id: number, mark: number): unknown {
  const log = company.tables.contact_activity_logs.get(id);
  if (!log || log.metadata.documentId !== undefined || log.type === "document_linked") throw new Missing();
  const own = Object.entries(log.metadata).filter(([, value]) => value !== null && value !== undefined);
  return { metadata: { ...Object.fromEntries(own), content: `Dohodnuté ${mark}` } };
}

function receiptInput(receipt: Receipt, table: TableName, note: string): unknown {
  const { number, warehouseId, languageId, issueDate, partnerId, lines } = receipt;
  const partner = table === "warehouse_inbound_receipts" ? "supplierId" : "clientId";
  return { number, warehouseId, languageId, issueDate, note, [partner]: partnerId, items: lines };
}

/** The whole document again, with another note and now and then one piece more of its first line. */
function documentInput({ chance }: Hand, document: Document): unknown {
  const { issueDate, dueDate, sources } = document;
  const more = chance.often(0.5) ? 1 : 0;
  const items = document.items.map(({ allocations, ...item }, index) => {
    if (allocations.length > 0) return { ...item, warehouseAllocations: allocations };
    return { ...item, quantity: item.quantity + (index === 0 ? more : 0) };
  });
  const input = {
    ...document,
    numericalSeriesId: null,
    client: null,
    ...sources,
    items,
    note: `Upravené ${chance.int(1, 99_999)}`,
    ...(dueDate !== null && { dueDateDays: dayOf(dueDate) - dayOf(issueDate) }),
  };
  return withoutNulls(input);
}

/** The rest is resolved as at a creation. */
function withoutNulls(input: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}
