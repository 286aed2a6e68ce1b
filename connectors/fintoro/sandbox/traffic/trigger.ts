import { MirrorError } from "../../../../src/base/errors.ts";
import { unknownName } from "../../../../src/base/names.ts";
import { balanceOf } from "../domain/documents/payment-rules.ts";
import {
  collections,
  documentKinds,
  documentTable,
  eventTypes,
  tableNames,
  type TableName,
} from "../model/catalogue.ts";
import type { Document } from "../model/company-records.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import { isRefusedByRules, type Actor } from "./actor.ts";
import { changeRecord, createRecord, inboundReceiptInput } from "./record-inputs.ts";

/** Documents of other companies: they have no route, so that nothing can change. */
const otherTypes: Readonly<Record<string, string>> = {
  "received-invoices": "receivedInvoice",
  "received-receipts": "receivedReceipt",
};

/** What a person does to a record so that an event happens. */
type Action = (actor: Actor, table: TableName, id: number) => void;

/** By the last word of the event's type; `created` has no record before. */
const actions: Readonly<Record<string, Action>> = {
  updated: changeRecord,
  deleted: (actor, table, id) => actor.write("DELETE", table, id, {}),
  paid: (actor, table, documentId) => {
    const documentType = documentKinds.find((kind) => documentTable[kind] === table);
    actor.create("document_payments", { documentType, documentId });
  },
  "stock-updated": (actor, _, id) =>
    actor.create("warehouse_inbound_receipts", inboundReceiptInput(actor, id)),
};

/** Acts on the named record; else on any that allows it, or on one that is created for it. Gives its id. */
function perform(actor: Actor, table: TableName, change: string, id: number | null): number {
  const action = actions[change];
  const act = (one: number) => {
    action?.(actor, table, one);
    return one;
  };
  if (id !== null && action) return act(id);
  if (id !== null)
    throw new MirrorError("usage", "a new record gets its id from the service", {
      hint: "leave the id out, or forge the event",
    });
  try {
    if (action) return actor.withAny(table, act);
  } catch (cause) {
    if (!isRefusedByRules(cause)) throw cause;
  }
  return act(createRecord(actor, table));
}

/**
 * Makes an event happen by a fitting change under the company's own rules, or emits it without one.
 *
 * @param id the record it happens to; null lets one be chosen
 * @param forge emits the event without the change
 * @returns what was done, and every event that followed from it
 * @throws MirrorError `usage` for an unknown event; Invalid, Missing where the rules refuse the change
 */
export function trigger(actor: Actor, event: string, id: number | null = null, forge = false) {
  if (!eventTypes.includes(event)) throw unknownEvent(event);
  const [path = "", change = ""] = event.split(".");
  const table = tableNames.find((name) => collections[name].path === path) ?? null;
  const forged = forge || table === null;
  const { events: log } = actor.company;
  const events: SandboxEvent[] = [];
  const unsubscribe = log.subscribe((one) => events.push(one));
  try {
    const done = forged ? (id ?? someId(actor, table)) : perform(actor, table, change, id);
    if (forged) log.append(event, table ? collections[table].type : (otherTypes[path] ?? path), done);
    const own = events.find((one) => one.type === event);
    return { event, id: own?.resource.id ?? done, forged, events };
  } finally {
    unsubscribe();
  }
}

function unknownEvent(event: string): MirrorError {
  return new MirrorError("usage", unknownName("event", event, eventTypes), {
    hint: `events are ${eventTypes.join(", ")}`,
  });
}

function someId(actor: Actor, table: TableName | null): number {
  if (table === null) return actor.random.int(1, 99_999);
  return actor.find(table)?.id ?? actor.company.tables[table].nextId;
}

/**
 * What `demo` does to a company: writes an invoice, pays one, changes a client and deletes an invoice.
 *
 * @returns changes ready to be made, each with a sentence and the record whose row in the mirror shows it
 */
export function demoChanges(actor: Actor) {
  const { clients, invoices } = actor.company.tables;
  const known = [...invoices.values()].toReversed();
  const unpaid = known.find((invoice) => balanceOf(actor.company, invoice).toBePaid > 0n);
  const other = known.find((invoice) => invoice !== unpaid);
  const change = (event: string, sentence: (id: number) => string, id?: number) => ({
    make: () => {
      const done = trigger(actor, event, id);
      return { sentence: sentence(done.id), table: event.replace(/\..*/, ""), id: done.id };
    },
  });
  return [
    change("invoices.created", (id) => {
      const { number, client } = invoices.get(id) as Document;
      return `invoice ${number} was written for ${client.name}`;
    }),
    ...(unpaid ? [change("invoices.paid", () => `invoice ${unpaid.number} was paid`, unpaid.id)] : []),
    change("clients.updated", (id) => `${clients.get(id)?.name} has a new address`),
    ...(other ? [change("invoices.deleted", () => `invoice ${other.number} was deleted`, other.id)] : []),
  ];
}
