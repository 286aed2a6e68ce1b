import { MirrorError } from "../../../../src/base/errors.ts";
import { nearest } from "../../../../src/base/names.ts";
import { balanceOf } from "../domain/documents/balance.ts";
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

/** One change of `demo`, ready to be made. */
export interface DemoChange {
  /** Makes it; gives a sentence about it, and the record whose row in the mirror shows it. */
  make(): { readonly sentence: string; readonly table: string; readonly id: number };
}

/** What `demo` does to a company: writes an invoice, pays one, changes a client and deletes an invoice. */
export function demoChanges(actor: Actor): readonly DemoChange[] {
  const { clients, invoices } = actor.company.tables;
  const known = [...invoices.values()].toReversed();
  const unpaid = known.find((invoice) => balanceOf(actor.company, invoice).toBePaid > 0n);
  const other = known.find(({ id }) => id !== unpaid?.id);
  const change = (event: string, id: number | null, sentence: (id: number) => string): DemoChange => ({
    make: () => {
      const [table = ""] = event.split(".");
      const { id: changed } = trigger(actor, event, id);
      return { sentence: sentence(changed), table, id: changed };
    },
  });
  const written = (id: number) => {
    const invoice = invoices.get(id);
    return `invoice ${invoice?.number} was written for ${invoice?.client.name}`;
  };
  return [
    change("invoices.created", null, written),
    ...(unpaid ? [change("invoices.paid", unpaid.id, () => `invoice ${unpaid.number} was paid`)] : []),
    change("clients.updated", null, (id) => `${clients.get(id)?.name} has a new address`),
    ...(other ? [change("invoices.deleted", other.id, () => `invoice ${other.number} was deleted`)] : []),
  ];
}
