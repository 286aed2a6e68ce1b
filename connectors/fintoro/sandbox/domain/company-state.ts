import type { Clock } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import {
  collections,
  documentKinds,
  documentTable,
  type DocumentTable,
  type TableName,
} from "../model/catalogue.ts";
import type * as records from "../model/company-records.ts";
import type { Client, Supplier } from "../model/contact-records.ts";
import { EventLog } from "../model/event-log.ts";
import { Table, type Keys } from "../model/record-table.ts";
import type { PriceListItem, Receipt, Warehouse } from "../model/warehouse-records.ts";

/** The kind of record that each table holds. */
interface Records extends Readonly<Record<DocumentTable, records.Document>> {
  readonly clients: Client;
  readonly suppliers: Supplier;
  readonly bank_accounts: records.BankAccount;
  readonly business_case_statuses: records.CaseStatus;
  readonly business_cases: records.BusinessCase;
  readonly contact_activity_logs: records.ActivityLog;
  readonly warehouses: Warehouse;
  readonly warehouse_inbound_receipts: Receipt;
  readonly warehouse_outbound_receipts: Receipt;
  readonly price_list_items: PriceListItem;
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
  readonly clock: Clock;
  readonly random: Random;
  /** Deleted accounts that documents still show. */
  readonly closedAccounts: Map<number, records.BankAccount>;
  /** Uploaded files by token, until a CRM event takes them. */
  readonly uploads: Map<string, records.Upload>;
  readonly mails: records.SentMail[];
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

/** What a company starts with. */
interface CompanyInput extends Pick<Company, "index" | "snapshot" | "clock" | "random"> {
  readonly settings: Omit<CompanySettings, "name" | "nextPartId">;
  readonly firstIds: Readonly<Record<keyof Tables, number>>;
}

/** A company without a record. */
export function openCompany({ firstIds, settings, ...input }: CompanyInput): Company {
  const { index, snapshot, clock, random } = input;
  return {
    ...input,
    tables: tablesFrom(firstIds),
    stock: new Stock(),
    events: new EventLog(random, () => clock.nowMs()),
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
  order: ({ orderId }) => orderId,
  quotation: ({ quotationId }) => quotationId,
};

const receiptKeys: Keys<Receipt> = {
  number: ({ number }) => number,
  warehouse: ({ warehouseId }) => warehouseId,
  document: ({ madeBy }) => (madeBy ? ownerKey(madeBy.kind, madeBy.id) : null),
};

/** The indexes of the tables that have some. */
const indexes: { readonly [K in keyof Tables]?: Keys<Records[K]> } = {
  contact_activity_logs: { target: ({ target }) => ownerKey(target.kind, target.id) },
  warehouse_inbound_receipts: receiptKeys,
  warehouse_outbound_receipts: receiptKeys,
  price_list_items: { ean: ({ ean }) => ean, warehouseCode: ({ warehouseCode }) => warehouseCode },
  ...Object.fromEntries(documentKinds.map((kind) => [documentTable[kind], documentKeys])),
  document_payments: {
    document: ({ documentKind, documentId }) => ownerKey(documentKind, documentId),
  },
};

function tablesFrom(firstIds: CompanyInput["firstIds"]): Tables {
  const names = Object.keys(firstIds) as (keyof Tables)[];
  const tables = names.map((name) => [name, new Table(firstIds[name], indexes[name] as Keys<never>)]);
  return Object.fromEntries(tables) as Tables;
}

/** The table of one kind of document. */
export function documentsOf(company: Company, kind: records.DocumentKind): Table<records.Document> {
  return company.tables[documentTable[kind]];
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

  level(itemId: number, warehouseId: number): bigint {
    return this.of(itemId).get(warehouseId) ?? 0n;
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
