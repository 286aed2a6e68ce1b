import type { Random } from "../../../../src/base/random.ts";
import { boundedLog, singular } from "../base/values.ts";
import { documentKinds, kindFacts, pathOf, tableNames, type TableName } from "./catalogue.ts";
import type { DocumentKind, BookRow, Upload } from "./row.ts";
import { RowTable } from "./table.ts";

/** The indexes of the tables that have some. */
const receiptKeys = {
  number: ({ number }: BookRow) => number,
  warehouse: ({ warehouseId }: BookRow) => warehouseId,
};
const documentKeys = {
  number: ({ number }: BookRow) => number,
  invoice: ({ invoiceId }: BookRow) => invoiceId,
  proforma: ({ proformaId }: BookRow) => proformaId,
};
const indexes: Readonly<Record<string, Readonly<Record<string, (row: BookRow) => string | number | null>>>> =
  {
    contact_activity_logs: { target: ({ target }) => ownerKey(target.table, target.id) },
    bank_accounts: { iban: ({ iban }) => iban },
    warehouses: { code: ({ code }) => code },
    warehouse_inbound_receipts: receiptKeys,
    warehouse_outbound_receipts: receiptKeys,
    price_list_items: { ean: ({ ean }) => ean, warehouseCode: ({ warehouseCode }) => warehouseCode },
    ...Object.fromEntries(documentKinds.map((kind) => [kindFacts[kind].table, documentKeys])),
    document_payments: { document: ({ documentKind, documentId }) => ownerKey(documentKind, documentId) },
  };

/** The key of a document or a contact, under which payments and CRM events are found. */
export function ownerKey(kind: DocumentKind | TableName, id: number): string {
  return `${kind}:${id}`;
}

export interface CompanyStart {
  readonly index: number;
  /** What documents show of the company. */
  readonly snapshot: { readonly name: string };
  readonly nowMs: () => number;
  readonly random: Random;
  /** Day number. Fixed, so that a status does not change by itself while a test runs. */
  today: number;
  readonly allowLoopbackWebhooks: boolean;
  /** What URLs inside answers start with. */
  publicOrigin: string;
  /** Lists of price-list items show the stock by warehouse; the real service may leave that to the record. */
  readonly stocksInLists: boolean;
}

/** One company: everything that its tokens can read, and nothing of another company. */
export type Company = ReturnType<typeof openCompany>;

/** A company without a record. First ids lie apart, so that an id of one table is rarely one of another. */
export function openCompany(start: CompanyStart) {
  const { index, snapshot, random, nowMs } = start;
  const tables = [...tableNames, "numerical_series" as const].map(
    (name, i) => [name, new RowTable(index * 10_000_000 + 101 + i * 37, indexes[name])] as const,
  );
  return {
    ...start,
    name: snapshot.name,
    tables: Object.fromEntries(tables) as Readonly<Record<(typeof tables)[number][0], RowTable>>,
    events: new EventLog(random, nowMs),
    /** How much of each item (millionths) lies in which warehouse, the sum of all receipts; by item and warehouse. */
    stock: new Map<number, Map<number, bigint>>(),
    /** Deleted accounts that documents still show. */
    closedAccounts: new Map<number, BookRow>(),
    /** Uploaded files by token, until a CRM event takes them. */
    uploads: new Map<string, Upload>(),
    /** Mails with a document that were asked for; the sandbox sends none. */
    mails: [] as object[],
    /** Gives ids to items and attachments; they count upwards. */
    nextPartId: partIds(2_000_000_000 + index * 10_000_000),
  };
}

function partIds(firstId: number): () => number {
  let id = firstId;
  return () => id++;
}

/** The table of one kind of document. */
export function documentsOf({ tables }: Company, kind: DocumentKind): RowTable {
  return tables[kindFacts[kind].table];
}

/** An event as a delivery carries it. */
export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly resource: { readonly type: string; readonly id: number };
}

type EventListener = (event: SentEvent) => void;

/** The newest events of a company, oldest first. It sends nothing: senders subscribe to it. */
export class EventLog {
  readonly #events = boundedLog<SentEvent>(200_000);
  readonly #listeners = new Set<EventListener>();
  readonly #random: Random;
  readonly #nowMs: () => number;

  constructor(random: Random, nowMs: () => number) {
    this.#random = random;
    this.#nowMs = nowMs;
  }

  append(type: string, resourceType: string, id: number): void {
    const event = {
      id: `evt_${this.#random.uuid().replaceAll("-", "")}`,
      type,
      occurredAt: new Date(this.#nowMs()).toISOString(),
      resource: { type: resourceType, id },
    };
    this.#events.add(event);
    for (const listener of this.#listeners) listener(event);
  }

  list(): readonly SentEvent[] {
    return this.#events.list();
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

type EventChange = "created" | "updated" | "deleted" | "paid" | "stock-updated";

/** Appends one event to the company's log, after the change that it is about. Subscriptions have no events. */
export function emit({ events }: Company, table: TableName, change: EventChange, id: number): void {
  if (table !== "webhook_subscriptions") events.append(`${pathOf(table)}.${change}`, singular(table), id);
}
