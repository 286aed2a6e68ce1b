import type { Random } from "../../../../src/base/random.ts";
import { boundedLog, singular } from "../base/values.ts";
import { kindFacts, pathOf, tableNames, type TableName } from "./catalogue.ts";
import { RowTable, type BookRow, type DocumentKind, type Upload } from "./rows.ts";

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
