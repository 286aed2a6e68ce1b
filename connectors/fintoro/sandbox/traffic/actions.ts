import { MirrorError } from "../../../../src/base/errors.ts";
import { nearest } from "../../../../src/base/names.ts";
import type { SeededRandom } from "../base/seeded-random.ts";
import {
  collections,
  documentKinds,
  documentTable,
  eventTypes,
  tableNames,
  type TableName,
} from "../model/catalogue.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import { isRefusal, type Actor } from "./actor.ts";
import { changeRecord } from "./changed-records.ts";
import { createRecord, inboundReceipt, someUnpaid } from "./created-records.ts";

/** Documents of other companies: they have no route, so that nothing can change. */
const otherTypes: Readonly<Record<string, string>> = {
  "received-invoices": "receivedInvoice",
  "received-receipts": "receivedReceipt",
};

/** What a person does to a record so that an event happens; null lets it choose or create the record. */
type Action = (actor: Actor, table: TableName, id: number | null) => number;

/** By the last word of the event's type. */
const actions: Readonly<Record<string, Action>> = {
  created: create,
  updated: (actor, table, id) => toOne(actor, table, id, (one) => changeRecord(actor, table, one)),
  deleted: (actor, table, id) => toOne(actor, table, id, (one) => actor.write("DELETE", table, one, {})),
  paid: pay,
  "stock-updated": (actor, _, id) => actor.create("warehouse_inbound_receipts", inboundReceipt(actor, id)),
};

function create(actor: Actor, table: TableName, id: number | null): number {
  if (id === null) return createRecord(actor, table);
  throw new MirrorError("usage", "a new record gets its id from the service", {
    hint: "leave the id out, or forge the event",
  });
}

/** To the named record; else to any that allows it, or to one that is created for it. */
function toOne(actor: Actor, table: TableName, id: number | null, act: (id: number) => void): number {
  if (id === null) return orWithNew(actor, table, act, () => actor.withAny(table, act));
  act(id);
  return id;
}

/** What the rules refuse for the records there are is done to a new one. */
function orWithNew(actor: Actor, table: TableName, act: (id: number) => void, first: () => number): number {
  try {
    return first();
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    const id = createRecord(actor, table);
    act(id);
    return id;
  }
}

/** Pays all that is left of a document. */
function pay(actor: Actor, table: TableName, id: number | null): number {
  const documentType = documentKinds.find((kind) => documentTable[kind] === table) ?? "invoice";
  const payOne = (documentId: number) => {
    actor.create("document_payments", { documentType, documentId });
    return documentId;
  };
  if (id !== null) return payOne(id);
  return orWithNew(actor, table, payOne, () => payOne(someUnpaid(actor, [documentType]).documentId));
}

/** What was done, and every event that followed from it. */
export interface Triggered {
  readonly event: string;
  readonly id: number;
  readonly forged: boolean;
  readonly events: readonly SandboxEvent[];
}

/**
 * Makes an event happen by a fitting change under the company's own rules, or emits it without one.
 *
 * @param id the record it happens to; null lets one be chosen
 * @param forge emits the event without the change
 * @throws MirrorError `usage` for an unknown event; Invalid, Missing where the rules refuse the change
 */
export function trigger(actor: Actor, event: string, id: number | null = null, forge = false): Triggered {
  if (!eventTypes.includes(event)) throw unknownEvent(event);
  const [path = "", change = ""] = event.split(".");
  const table = tableNames.find((name) => collections[name].path === path) ?? null;
  const action = actions[change];
  const forged = forge || table === null || !action;
  const { events: log } = actor.company;
  const events: SandboxEvent[] = [];
  const unsubscribe = log.subscribe((one) => events.push(one));
  try {
    const done = forged ? (id ?? someId(actor, table)) : action(actor, table, id);
    if (forged) log.append(event, table ? collections[table].type : (otherTypes[path] ?? path), done);
    const own = events.find((one) => one.type === event);
    return { event, id: own?.resource.id ?? done, forged, events };
  } finally {
    unsubscribe();
  }
}

function unknownEvent(event: string): MirrorError {
  const near = nearest(event, eventTypes);
  const message = `there is no event "${event}"${near ? `; did you mean "${near}"?` : ""}`;
  return new MirrorError("usage", message, { hint: `events are ${eventTypes.join(", ")}` });
}

function someId(actor: Actor, table: TableName | null): number {
  if (table === null) return actor.random.int(1, 99_999);
  return actor.find(table) ?? actor.company.tables[table].nextId;
}

/** What people do in a working day, how often in about a hundred times, and its name in a report. */
const work: readonly (readonly [event: string, weight: number, name: string])[] = [
  ["invoices.created", 16, "invoices written"],
  ["invoices.updated", 9, "invoices updated"],
  ["invoices.paid", 13, "invoices paid"],
  ["document-payments.created", 5, "payments in part"],
  ["document-payments.deleted", 1, "payments deleted"],
  ["invoices.deleted", 2, "invoices deleted"],
  ["credit-notes.created", 3, "credit notes written"],
  ["credit-notes.paid", 1, "credit notes paid"],
  ["proformas.created", 3, "proformas written"],
  ["proformas.paid", 2, "proformas paid"],
  ["orders.created", 6, "orders taken"],
  ["orders.updated", 3, "orders updated"],
  ["orders.deleted", 1, "orders deleted"],
  ["quotations.created", 5, "quotations written"],
  ["quotations.updated", 2, "quotations updated"],
  ["quotations.deleted", 1, "quotations deleted"],
  ["warehouse-inbound-receipts.created", 6, "goods taken in"],
  ["warehouse-outbound-receipts.created", 5, "goods given out"],
  ["warehouse-inbound-receipts.updated", 1, "receipts updated"],
  ["warehouse-outbound-receipts.deleted", 1, "receipts deleted"],
  ["price-list-items.created", 1, "items listed"],
  ["price-list-items.updated", 3, "items repriced"],
  ["clients.created", 3, "clients added"],
  ["clients.updated", 6, "clients changed"],
  ["clients.deleted", 1, "clients deleted"],
  ["suppliers.created", 1, "suppliers added"],
  ["suppliers.updated", 2, "suppliers changed"],
  ["suppliers.deleted", 1, "suppliers deleted"],
  ["business-cases.created", 3, "cases opened"],
  ["business-cases.updated", 4, "cases moved"],
  ["business-cases.deleted", 1, "cases deleted"],
  ["contact-activity-logs.created", 6, "CRM events noted"],
  ["contact-activity-logs.updated", 1, "CRM events changed"],
  ["contact-activity-logs.deleted", 1, "CRM events deleted"],
];
const allWeights = work.reduce((sum, [, weight]) => sum + weight, 0);

/** Does something of a working day, another thing where the rules refuse it; gives its name in a report. */
export function doSomeWork(actor: Actor): string {
  for (let tries = 0; tries < 20; tries++) {
    const [event, , name] = someWork(actor.random);
    try {
      trigger(actor, event);
      return name;
    } catch (cause) {
      if (!isRefusal(cause)) throw cause;
    }
  }
  return "refused by the rules";
}

function someWork(random: SeededRandom): (typeof work)[number] {
  let rest = random.next() * allWeights;
  return work.find(([, weight]) => (rest -= weight) < 0) ?? (work[0] as (typeof work)[number]);
}
