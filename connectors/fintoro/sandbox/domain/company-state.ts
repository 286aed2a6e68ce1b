import type { Clock } from "../../../../src/base/clock.ts";
import type { Random } from "../../../../src/base/random.ts";
import { documentTable } from "../model/catalogue.ts";
import { EventLog } from "../model/event-log.ts";
import { Orders } from "../model/sort-orders.ts";
import type * as records from "../model/company-records.ts";
import { emptySeeds, listSeeds, Table, type Seeded } from "../model/table.ts";
import { seededLog } from "../seed/activity-seed.ts";
import { seededCase, seededStatuses } from "../seed/case-seed.ts";
import { seededItem } from "../seed/price-list-seed.ts";
import { booksOf, firstIdOf, seededDocument, type Books } from "../seed/document-seed.ts";
import {
  seededAccounts,
  seededSeries,
  seededSubscriptions,
  seededWarehouses,
} from "../seed/settings-seed.ts";
import { movementsOf, seededReceipt, type Movements } from "../seed/receipt-seed.ts";
import { seededClient, seededSupplier } from "../seed/contact-seed.ts";
import { paymentBookOf, type PaymentBook } from "../seed/payment-seed.ts";
import type { Plan } from "../seed/seed-plan.ts";
import { Stock, type StockMove } from "../model/stock-levels.ts";

export interface Tables {
  readonly clients: Table<records.Client>;
  readonly suppliers: Table<records.Supplier>;
  readonly bank_accounts: Table<records.BankAccount>;
  readonly business_case_statuses: Table<records.CaseStatus>;
  readonly business_cases: Table<records.BusinessCase>;
  readonly contact_activity_logs: Table<records.ActivityLog>;
  readonly warehouses: Table<records.Warehouse>;
  readonly warehouse_inbound_receipts: Table<records.Receipt>;
  readonly warehouse_outbound_receipts: Table<records.Receipt>;
  readonly price_list_items: Table<records.PriceListItem>;
  readonly invoices: Table<records.Document>;
  readonly credit_notes: Table<records.Document>;
  readonly proformas: Table<records.Document>;
  readonly orders: Table<records.Document>;
  readonly quotations: Table<records.Document>;
  readonly document_payments: Table<records.Payment>;
  readonly webhook_subscriptions: Table<records.Subscription>;
  readonly numerical_series: Table<records.Series>;
}

/** All that one company's tokens can see, and nothing of another's. */
export interface Company {
  readonly index: number;
  readonly plan: Plan;
  readonly books: Books;
  readonly paymentBook: PaymentBook;
  readonly tables: Tables;
  readonly orders: Orders;
  readonly stock: Stock;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly random: Random;
  /** Accounts that documents still show after their deletion. */
  readonly closedAccounts: Map<number, records.BankAccount>;
  /** Payments recorded since the start, by `kind:id` of their document. */
  readonly newPayments: Map<string, number[]>;
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
  /** Lists of price-list items split the stock by warehouse; the real service may leave that to the record. */
  stocksInLists: boolean;
  /** Counts new item and attachment ids upwards from here. */
  nextPartId: number;
}

export interface CompanyInput {
  readonly index: number;
  readonly plan: Plan;
  readonly clock: Clock;
  readonly random: Random;
  readonly allowLoopbackWebhooks: boolean;
  readonly stocksInLists: boolean;
}

export function openCompany({
  index,
  plan,
  clock,
  random,
  allowLoopbackWebhooks,
  stocksInLists,
}: CompanyInput): Company {
  const books = booksOf(plan);
  const paymentBook = paymentBookOf(books);
  const movements = once(() => movementsOf(plan));
  return {
    index,
    plan,
    books,
    paymentBook,
    clock,
    random,
    tables: tablesOf(books, paymentBook, movements),
    orders: new Orders(),
    stock: new Stock(() => openingMoves(plan, movements())),
    events: new EventLog(random, () => clock.nowMs()),
    closedAccounts: new Map(),
    newPayments: new Map(),
    settings: {
      name: plan.company.name,
      today: plan.today,
      allowLoopbackWebhooks,
      publicOrigin: plan.publicOrigin,
      stocksInLists,
      nextPartId: 2_000_000_000 + index * 10_000_000,
    },
  };
}

export function documentsOf(company: Company, kind: records.DocumentKind): Table<records.Document> {
  return company.tables[documentTable[kind] as "invoices"];
}

function tablesOf(books: Books, paymentBook: PaymentBook, movements: () => Movements): Tables {
  const { plan } = books;
  const { firstIds, volumes } = plan;
  type Lazy = Exclude<keyof Tables & keyof typeof volumes, "document_payments">;
  const lazy = <T extends { readonly id: number }>(name: Lazy, make: (id: number) => T) =>
    new Table<T>({ first: firstIds[name], count: volumes[name], make });
  const whole = <T extends { readonly id: number }>(name: keyof typeof firstIds, list: readonly T[]) =>
    new Table<T>(list.length > 0 ? listSeeds(firstIds[name], list) : emptySeeds(firstIds[name]));
  const documents = (kind: records.DocumentKind) => new Table(documentSeeds(books, kind));
  return {
    clients: lazy("clients", (id) => seededClient(plan, id)),
    suppliers: lazy("suppliers", (id) => seededSupplier(plan, id)),
    bank_accounts: whole("bank_accounts", seededAccounts(plan)),
    business_case_statuses: whole("business_case_statuses", seededStatuses(plan)),
    business_cases: lazy("business_cases", (id) => seededCase(plan, id)),
    contact_activity_logs: lazy("contact_activity_logs", (id) => seededLog(books, id)),
    warehouses: whole("warehouses", seededWarehouses(plan)),
    warehouse_inbound_receipts: lazy("warehouse_inbound_receipts", (id) =>
      seededReceipt(plan, movements(), "inbound", id),
    ),
    warehouse_outbound_receipts: lazy("warehouse_outbound_receipts", (id) =>
      seededReceipt(plan, movements(), "outbound", id),
    ),
    price_list_items: lazy("price_list_items", (id) => seededItem(plan, id)),
    invoices: documents("invoice"),
    credit_notes: documents("credit-note"),
    proformas: documents("proforma"),
    orders: documents("order"),
    quotations: documents("quotation"),
    document_payments: new Table({
      first: firstIds.document_payments,
      count: paymentBook.count,
      make: paymentBook.make,
    }),
    webhook_subscriptions: whole("webhook_subscriptions", seededSubscriptions(plan)),
    numerical_series: whole("numerical_series", seededSeries(plan, books.timelines)),
  };
}

function documentSeeds(books: Books, kind: records.DocumentKind): Seeded<records.Document> {
  return {
    first: firstIdOf(books.plan, kind),
    count: books.plan.volumes[kind],
    make: (id) => seededDocument(books, kind, id),
  };
}

function* openingMoves(plan: Plan, movements: Movements): Generator<StockMove> {
  for (const [sheets, sign] of [
    [movements.inbound, 1n],
    [movements.outbound, -1n],
  ] as const) {
    for (const { warehouse, moves } of sheets) {
      for (const { item, quantity } of moves) {
        yield {
          itemId: plan.firstIds.price_list_items + item,
          warehouseId: plan.firstIds.warehouses + warehouse,
          quantity: sign * BigInt(quantity) * 1_000_000n,
        };
      }
    }
  }
}

function once<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}
