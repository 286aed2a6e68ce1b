import type { Random } from "../../../../src/base/random.ts";
import { BoundedLog } from "../base/values.ts";
import { collections, documentKinds, kindFacts, type DocumentTable, type TableName } from "./catalogue.ts";
import { Table, type Keys } from "./record-table.ts";
import type * as records from "./records.ts";

/** The kind of record that each table holds. */
interface Records extends Readonly<Record<DocumentTable, records.Document>> {
  readonly clients: records.Client;
  readonly suppliers: records.Supplier;
  readonly bank_accounts: records.BankAccount;
  readonly business_case_statuses: records.CaseStatus;
  readonly business_cases: records.BusinessCase;
  readonly contact_activity_logs: records.ActivityLog;
  readonly warehouses: records.Warehouse;
  readonly warehouse_inbound_receipts: records.Receipt;
  readonly warehouse_outbound_receipts: records.Receipt;
  readonly price_list_items: records.PriceListItem;
  readonly document_payments: records.Payment;
  readonly webhook_subscriptions: records.Subscription;
  readonly numerical_series: records.Series;
}

/** The kind of record in a table. */
export type RecordOf<K extends keyof Records> = Records[K];

/** All tables of a company. */
export type Tables = { readonly [K in keyof Records]: Table<Records[K]> };

/** One company: everything that its tokens can read, and nothing of another company. */
export interface Company {
  readonly index: number;
  /** What documents show of the company. */
  readonly snapshot: records.CompanySnapshot;
  readonly tables: Tables;
  readonly stock: Stock;
  readonly events: EventLog;
  readonly nowMs: () => number;
  readonly random: Random;
  /** Deleted accounts that documents still show. */
  readonly closedAccounts: Map<number, records.BankAccount>;
  /** Uploaded files by token, until a CRM event takes them. */
  readonly uploads: Map<string, records.Upload>;
  /** Mails with a document that were asked for; the sandbox sends none. */
  readonly mails: {
    readonly documentType: records.DocumentKind;
    readonly documentId: number;
    readonly to: readonly string[];
  }[];
  /** Settings that no route changes. */
  readonly settings: CompanySettings;
}

interface CompanySettings {
  name: string;
  /** Day number. Fixed, so that a status does not change by itself while a test runs. */
  today: number;
  allowLoopbackWebhooks: boolean;
  /** What URLs inside answers start with. */
  publicOrigin: string;
  /** Lists of price-list items show the stock by warehouse; the real service may leave that to the record. */
  stocksInLists: boolean;
  /** Counts new item and attachment ids upwards from here. */
  nextPartId: number;
}

interface CompanyInput extends Pick<Company, "index" | "snapshot" | "nowMs" | "random"> {
  readonly settings: Omit<CompanySettings, "name" | "nextPartId">;
}

/** A company without a record. */
export function openCompany({ settings, ...input }: CompanyInput): Company {
  const { index, snapshot, nowMs, random } = input;
  return {
    ...input,
    tables: tablesOf(index),
    stock: new Stock(),
    events: new EventLog(random, nowMs),
    closedAccounts: new Map(),
    uploads: new Map(),
    mails: [],
    settings: { ...settings, name: snapshot.name, nextPartId: 2_000_000_000 + index * 10_000_000 },
  };
}

/** The key of a document or a contact, under which payments, receipts and CRM events are found. */
export function ownerKey(kind: records.DocumentKind | records.ActivityTarget["kind"], id: number): string {
  return `${kind}:${id}`;
}

const documentKeys: Keys<records.Document> = {
  number: ({ number }) => number,
  invoice: ({ invoiceId }) => invoiceId,
  proforma: ({ proformaId }) => proformaId,
};

const receiptKeys: Keys<records.Receipt> = {
  number: ({ number }) => number,
  warehouse: ({ warehouseId }) => warehouseId,
};

/** The indexes of the tables that have some. */
const indexes: { readonly [K in keyof Tables]?: Keys<Records[K]> } = {
  contact_activity_logs: { target: ({ target }) => ownerKey(target.kind, target.id) },
  bank_accounts: { iban: ({ iban }) => iban },
  warehouses: { code: ({ code }) => code },
  warehouse_inbound_receipts: receiptKeys,
  warehouse_outbound_receipts: receiptKeys,
  price_list_items: { ean: ({ ean }) => ean, warehouseCode: ({ warehouseCode }) => warehouseCode },
  ...Object.fromEntries(documentKinds.map((kind) => [kindFacts[kind].table, documentKeys])),
  document_payments: {
    document: ({ documentKind, documentId }) => ownerKey(documentKind, documentId),
  },
};

/** First ids lie apart, so that an id of one company or collection is rarely one of another. */
function tablesOf(index: number): Tables {
  const names = [...Object.keys(collections), "numerical_series"] as (keyof Tables)[];
  const tables = names.map((name, i) => {
    const firstId = index * 10_000_000 + 101 + i * 37;
    return [name, new Table(firstId, indexes[name] as Keys<{ readonly id: number }>)];
  });
  return Object.fromEntries(tables) as Tables;
}

/** The table of one kind of document. */
export function documentsOf(company: Company, kind: records.DocumentKind): Table<records.Document> {
  return company.tables[kindFacts[kind].table];
}

/** An event as a delivery carries it. */
export interface SandboxEvent {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly resource: { readonly type: string; readonly id: number };
}

/** Called with each event right after it happened. */
export type EventListener = (event: SandboxEvent) => void;

/** The newest events of a company, oldest first. It sends nothing: senders subscribe to it. */
export class EventLog {
  readonly #events = new BoundedLog<SandboxEvent>(200_000);
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

  list(): readonly SandboxEvent[] {
    return this.#events.list();
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

type Change = "created" | "updated" | "deleted" | "paid" | "stock-updated";

/** Appends one event to the company's log, after the change that it is about. Subscriptions have no events. */
export function emit(company: Company, table: TableName, change: Change, id: number): void {
  const { path, type } = collections[table];
  if (table !== "webhook_subscriptions") company.events.append(`${path}.${change}`, type, id);
}

/** How much of each item (millionths) lies in which warehouse: the sum of all receipts. */
class Stock {
  readonly #levels = new Map<number, Map<number, bigint>>();

  /** The item's levels by warehouse id; only warehouses that ever held the item. */
  of(itemId: number): ReadonlyMap<number, bigint> {
    return this.#levels.get(itemId) ?? new Map();
  }

  /** Over all warehouses. */
  total(itemId: number): bigint {
    return [...this.of(itemId).values()].reduce((sum, level) => sum + level, 0n);
  }

  /** Adds a quantity (millionths) that came to a warehouse, or left it. */
  move(itemId: number, warehouseId: number, quantity: bigint): void {
    const places = this.#levels.get(itemId) ?? new Map<number, bigint>();
    places.set(warehouseId, (places.get(warehouseId) ?? 0n) + quantity);
    this.#levels.set(itemId, places);
  }
}
