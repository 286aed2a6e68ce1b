import type { Clock } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import { collections, documentTable, type TableName } from "../model/catalogue.ts";
import type * as records from "../model/company-records.ts";
import { EventLog } from "../model/event-log.ts";
import { Table, type KeyOf } from "../model/record-table.ts";
import { Orders } from "../model/sort-orders.ts";
import { Stock } from "../model/stock-levels.ts";
import type { PriceListItem, Receipt, Warehouse } from "../model/warehouse-records.ts";

/** The kind of record that each table holds. */
interface Records {
  readonly clients: records.Client;
  readonly suppliers: records.Supplier;
  readonly bank_accounts: records.BankAccount;
  readonly business_case_statuses: records.CaseStatus;
  readonly business_cases: records.BusinessCase;
  readonly contact_activity_logs: records.ActivityLog;
  readonly warehouses: Warehouse;
  readonly warehouse_inbound_receipts: Receipt;
  readonly warehouse_outbound_receipts: Receipt;
  readonly price_list_items: PriceListItem;
  readonly invoices: records.Document;
  readonly credit_notes: records.Document;
  readonly proformas: records.Document;
  readonly orders: records.Document;
  readonly quotations: records.Document;
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
  readonly orders: Orders;
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
export interface CompanyInput extends Pick<Company, "index" | "snapshot" | "clock" | "random"> {
  readonly settings: Omit<CompanySettings, "name" | "nextPartId">;
  readonly firstIds: Readonly<Record<keyof Tables, number>>;
}

/** A company without a record. */
export function openCompany({ firstIds, settings, ...input }: CompanyInput): Company {
  const { index, snapshot, clock, random } = input;
  return {
    ...input,
    tables: tablesFrom(firstIds),
    orders: new Orders(),
    stock: new Stock(),
    events: new EventLog(random, () => clock.nowMs()),
    closedAccounts: new Map(),
    uploads: new Map(),
    mails: [],
    settings: { ...settings, name: snapshot.name, nextPartId: 2_000_000_000 + index * 10_000_000 },
  };
}

/** The key under which payments and receipts are found by their document. */
export function documentKey(kind: records.DocumentKind, id: number): string {
  return `${kind}:${id}`;
}

/** The key under which CRM events are found by their target. */
export function targetKey({ kind, id }: records.ActivityTarget): string {
  return `${kind}:${id}`;
}

const documentKeys: Readonly<Record<string, KeyOf<records.Document>>> = {
  number: ({ number }) => number,
  invoice: ({ invoiceId }) => invoiceId,
  proforma: ({ sources }) => sources.proformaId,
  order: ({ sources }) => sources.orderId,
  quotation: ({ sources }) => sources.quotationId,
};

const receiptKeys: Readonly<Record<string, KeyOf<Receipt>>> = {
  number: ({ number }) => number,
  warehouse: ({ warehouseId }) => warehouseId,
  document: ({ madeBy }) => (madeBy ? documentKey(madeBy.kind, madeBy.id) : null),
};

function tablesFrom(firstIds: CompanyInput["firstIds"]): Tables {
  return {
    clients: new Table(firstIds.clients),
    suppliers: new Table(firstIds.suppliers),
    bank_accounts: new Table(firstIds.bank_accounts),
    business_case_statuses: new Table(firstIds.business_case_statuses),
    business_cases: new Table(firstIds.business_cases),
    contact_activity_logs: new Table(firstIds.contact_activity_logs, {
      target: ({ target }) => targetKey(target),
    }),
    warehouses: new Table(firstIds.warehouses),
    warehouse_inbound_receipts: new Table(firstIds.warehouse_inbound_receipts, receiptKeys),
    warehouse_outbound_receipts: new Table(firstIds.warehouse_outbound_receipts, receiptKeys),
    price_list_items: new Table(firstIds.price_list_items, {
      ean: ({ ean }) => ean,
      warehouseCode: ({ warehouseCode }) => warehouseCode,
    }),
    invoices: new Table(firstIds.invoices, documentKeys),
    credit_notes: new Table(firstIds.credit_notes, documentKeys),
    proformas: new Table(firstIds.proformas, documentKeys),
    orders: new Table(firstIds.orders, documentKeys),
    quotations: new Table(firstIds.quotations, documentKeys),
    document_payments: new Table(firstIds.document_payments, {
      document: ({ documentKind, documentId }) => documentKey(documentKind, documentId),
    }),
    webhook_subscriptions: new Table(firstIds.webhook_subscriptions),
    numerical_series: new Table(firstIds.numerical_series),
  };
}

/** The table of one kind of document. */
export function documentsOf(company: Company, kind: records.DocumentKind): Table<records.Document> {
  return company.tables[documentTable[kind] as "invoices"];
}

type Change = "created" | "updated" | "deleted" | "paid" | "stock-updated";

/** Appends one event to the company's log, after the change that it is about. */
export function emit(company: Company, table: TableName, change: Change, id: number): void {
  const { path, type } = collections[table];
  company.events.append(`${path}.${change}`, type, id);
}

/** Adds a record and emits `created`. */
export function addRecord<K extends TableName>(
  company: Company,
  table: K,
  facts: Omit<Records[K], "id">,
): Records[K] {
  const record = company.tables[table].add((id) => ({ id, ...facts }) as Records[K]);
  emit(company, table, "created", record.id);
  return record;
}

/** Replaces a record and emits `updated`. */
export function saveRecord<K extends TableName>(company: Company, table: K, record: Records[K]): Records[K] {
  company.tables[table].replace(record);
  emit(company, table, "updated", record.id);
  return record;
}

/** Removes a record and emits `deleted`. */
export function removeRecord(company: Company, table: TableName, { id }: { readonly id: number }): void {
  company.tables[table].remove(id);
  emit(company, table, "deleted", id);
}

/** The times of a record that is made now. */
export function stampsOf({ clock }: Company): records.Stamped {
  return { createdAtMs: clock.nowMs(), updatedAtMs: clock.nowMs() };
}
