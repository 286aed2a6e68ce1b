import type { Random } from "../../../../src/base/random.ts";
import { boundedLog, singular, type Each } from "../base/values.ts";
import { kindFacts, pathOf, tableNames, type DocumentKind, type TableName } from "./catalogue.ts";

interface CompanyStart {
  readonly index: number;
  readonly snapshot: { readonly name: string };
  readonly nowMs: () => number;
  readonly random: Random;
  /** Day number. Fixed, so that a status does not change by itself while a test runs. */
  today: number;
  readonly allowLoopbackWebhooks: boolean;
  /** Lists of price-list items show the stock by warehouse; the real service may leave that to the record. */
  readonly stocksInLists: boolean;
}

/** What URLs inside answers start with; no name server knows it, so that a client that follows one fails at once. */
export const publicOrigin = "https://app.fintoro.example";

/** One company: everything that its tokens can read, and nothing of another company. */
export type Company = ReturnType<typeof openCompany>;

/** A company without a record. First ids lie apart, so that an id of one table is rarely one of another. */
export function openCompany(start: CompanyStart) {
  const { index, snapshot, random, nowMs } = start;
  let partId = 2_000_000_000 + index * 10_000_000;
  const tables = [...tableNames, "numerical_series" as const].map(
    (name, i) => [name, new RowTable(index * 10_000_000 + 101 + i * 37)] as const,
  );
  return {
    ...start,
    name: snapshot.name,
    tables: Object.fromEntries(tables) as Readonly<Record<(typeof tables)[number][0], RowTable>>,
    events: eventLog(random, nowMs),
    /** How much of each item (millionths) lies in which warehouse, the sum of all receipts; by item and warehouse. */
    stock: new Map<number, Map<number, bigint>>(),
    closedAccounts: new Map<number, BookRow>(),
    /** Uploaded files by token, until a CRM event takes them. */
    uploads: new Map<string, Upload>(),
    /** Gives ids to items and attachments; they count upwards. */
    nextPartId: () => partId++,
  };
}

export const documentsOf = ({ tables }: Company, kind: DocumentKind) => tables[kindFacts[kind].table];

export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly resource: { readonly type: string; readonly id: number };
}

/** The newest events of a company, oldest first. It sends nothing: senders subscribe to it. */
function eventLog(random: Random, nowMs: () => number) {
  const events = boundedLog<SentEvent>(200_000);
  const listeners = new Set<(event: SentEvent) => void>();
  return {
    append: (type: string, resourceType: string, id: number): void => {
      const resource = { type: resourceType, id };
      const occurredAt = new Date(nowMs()).toISOString();
      const event = { id: `evt_${random.uuid().replaceAll("-", "")}`, type, occurredAt, resource };
      events.add(event);
      for (const listener of listeners) listener(event);
    },
    list: events.list,
    /** Returns the function that ends the subscription. */
    subscribe: (listener: (event: SentEvent) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

type EventChange = "created" | "updated" | "deleted" | "paid" | "stock-updated";

/** Appends one event to the company's log, after the change that it is about. Subscriptions have no events. */
export function emit({ events }: Company, table: TableName, change: EventChange, id: number): void {
  if (table !== "webhook_subscriptions") events.append(`${pathOf(table)}.${change}`, singular(table), id);
}

/**
 * A record of any collection as the sandbox keeps it: lookup values by id, money as the number that was sent,
 * moments as epoch ms. Which of the fields it has, its collection says; how it looks in an answer, its view.
 */
export type BookRow = Each<"discountType itemCode", string | null> &
  Each<"discountValue priceListItemId", number | null> &
  Each<"id createdAtMs updatedAtMs currencyId currencyRate languageId warehouseId boardPosition", number> &
  Each<"deliveryMethodId paymentMethodId qrTypeId unitPrice unitId vatRate nextNumber documentId", number> &
  Each<"inboundNumericalSeriesNextNumber outboundNumericalSeriesNextNumber", number> &
  Each<"quantity priceSnapshot currencySnapshotId paidAmount", number> &
  Each<"uuid name number type issueDate paymentDate code url secret pattern iban swift itemName", string> &
  Each<"numberSnapshot autoPairingStrategy", string> &
  Each<"inboundNumericalSeriesPattern outboundNumericalSeriesPattern", string> &
  Each<"description note textAboveItems dueDate deliveryDate validityDate ean warehouseCode", string | null> &
  Each<"city zip street vatId subjectId taxId content email personName phoneNumber", string | null> &
  Each<"clientId supplierId businessCaseId invoiceId proformaId numericalSeriesId", number | null> &
  Each<"bankAccountId statusId purchasePrice purchaseVatRate bankId receiptInvoiceId", number | null> &
  Each<"variableSymbol constantSymbol specificSymbol lastSuccessAtMs lastFailureAtMs", number | null> &
  Each<"countryId deliveryCountryId preferredLanguageId", number | null> &
  Each<"preferredCurrencyId preferredDueDays", number | null> &
  Each<"isActive isDefault isVatPayer isPrimary useWarehouse willBePaid transferTaxLiability", boolean> &
  Each<"kind documentKind", DocumentKind> & {
    readonly subscribedEvents: readonly string[];
    /** Of all types of CRM events together. */
    readonly metadata: Partial<BookRow>;
    readonly attachments: readonly Attachment[];
    readonly partner: BookRow | null;
    /** Of a quotation; that of documents with payments follows from these. */
    readonly status: "waiting" | "accepted" | "rejected";
    readonly company: object;
    readonly client: BookRow;
    /** Lines of a document, or of a receipt with the item's name, code and unit of that time. */
    readonly items: readonly BookRow[];
    readonly amountCents: bigint;
    /** What the bank last reported of an account. */
    readonly openBanking: (Each<"balance syncedAtMs", number> & Each<"until", string>) | null;
  };

export type Upload = Each<"name mimeType", string> & { readonly content: Buffer };
export type Attachment = Upload & Each<"id", number>;

type Key = string | number;
/** The ids of each value of a field. */
type FieldIndex = Map<Key, number[]>;

export const compareKeys = (a: Key, b: Key) => (a < b ? -1 : a > b ? 1 : 0);

/** The live records of one kind in the order of their ids. Ids count up and are never used again. */
export class RowTable {
  readonly firstId: number;
  nextId: number;
  readonly #rows = new Map<number, BookRow>();
  /** By field, made when it is first asked for. */
  readonly #indexes = new Map<keyof BookRow, FieldIndex>();
  /** Sorted records by the name of the order; dropped at each write. */
  readonly #orders = new Map<string, readonly BookRow[]>();

  constructor(firstId: number) {
    this.firstId = this.nextId = firstId;
  }

  get(id: number | null | undefined): BookRow | undefined {
    return this.#rows.get(id ?? 0);
  }

  add(fields: Omit<Partial<BookRow>, "id">): BookRow {
    return this.replace({ id: this.nextId++, ...fields } as BookRow);
  }

  replace(row: BookRow): BookRow {
    this.#index(this.#rows.get(row.id), row);
    this.#rows.set(row.id, row);
    return row;
  }

  remove(id: number): void {
    this.#index(this.#rows.get(id), undefined);
    this.#rows.delete(id);
  }

  values(): MapIterator<BookRow> {
    return this.#rows.values();
  }

  where(test: (row: BookRow) => boolean): BookRow[] {
    return [...this.values()].filter(test);
  }

  findBy(field: keyof BookRow, key: Key | undefined): BookRow[] {
    const index = this.#indexes.get(field) ?? new Map<Key, number[]>();
    if (!this.#indexes.has(field)) for (const row of this.values()) move(index, field, undefined, row);
    this.#indexes.set(field, index);
    return (index.get(key ?? "") ?? []).flatMap((id) => this.#rows.get(id) ?? []);
  }

  /** The live records by key, ascending, and equal keys by tie. An order with a name is kept until the next write. */
  sorted(name: string | null, keyOf: (row: BookRow) => Key, tieOf: (row: BookRow) => number) {
    const known = this.#orders.get(name ?? "");
    if (known) return known;
    const keyed = Array.from(this.values(), (row) => [row, keyOf(row), tieOf(row)] as const);
    keyed.sort(([, a, tie], [, b, otherTie]) => compareKeys(a, b) || tie - otherTie);
    const rows: readonly BookRow[] = keyed.map(([row]) => row);
    if (name !== null) this.#orders.set(name, rows);
    return rows;
  }

  /** Brings the indexes in line with what will stand in place of a record. */
  #index(before: BookRow | undefined, after: BookRow | undefined): void {
    this.#orders.clear();
    for (const [field, index] of this.#indexes) move(index, field, before, after);
  }
}

/** A record whose field is null, zero or empty stands in no index. */
function move(index: FieldIndex, field: keyof BookRow, before?: BookRow, after?: BookRow): void {
  const [from, to] = [before?.[field], after?.[field]] as (Key | null | undefined)[];
  if (from === to) return;
  if (before && from) index.set(from, index.get(from)?.filter((one) => one !== before.id) ?? []);
  if (after && to && !index.get(to)?.push(after.id)) index.set(to, [after.id]);
}
