import { MirrorError } from "../../../../src/base/errors.ts";
import { unknownName } from "../../../../src/base/names.ts";
import { each, singular } from "../base/values.ts";
import { documentKinds, eventTypes, kindFacts, pathOf, tableNames } from "../model/catalogue.ts";
import type { TableName } from "../model/catalogue.ts";
import type { SentEvent, BookRow } from "../model/company.ts";
import { writable } from "../resources/all-routes.ts";
import { balanceOf } from "../resources/balance.ts";
import { isRefusedByRules, Missing, present } from "../rules/rules.ts";
import dayWork from "./day-work.json" with { type: "json" };
import { inboundInput, newRecords, type Actor } from "./record-inputs.ts";

/** Records that are tried before an action counts as refused. */
const mostTries = 60;

/** What a person does to a record so that an event happens. */
type Action = (actor: Actor, table: TableName, id: number) => void;

/** The field of each table that people change, so that nothing else about the record does; else its note. */
const changedFields: Readonly<Partial<Record<TableName, keyof BookRow>>> = {
  ...each("clients suppliers", "street" as const),
  ...each("bank_accounts business_case_statuses warehouses", "name" as const),
  business_cases: "description",
  contact_activity_logs: "metadata",
  price_list_items: "unitPrice",
};

/** By the last word of the event's type; `created` has no record before. */
const actions: Readonly<Record<string, Action>> = {
  updated: ({ company, random }, table, id) => {
    const own = present(company.tables[table].get(id));
    const field = changedFields[table] ?? "note";
    const value = newValue(own[field], random.int(1, 99_999));
    writable[table].change(company, own, { [field]: value });
  },
  deleted: ({ company }, table, id) =>
    writable[table].remove(company, present(company.tables[table].get(id))),
  paid: ({ company }, table, documentId) => {
    const documentType = documentKinds.find((kind) => kindFacts[kind].table === table);
    writable.document_payments.create(company, { documentType, documentId });
  },
  "stock-updated": (actor, table, id) => {
    const item = present(actor.company.tables[table].get(id));
    writable.warehouse_inbound_receipts.create(actor.company, inboundInput(actor, item));
  },
};

/** Of metadata the content, which a CRM event about a document has none of. */
function newValue(value: unknown, mark: number): unknown {
  if (typeof value === "number") return mark / 100;
  if (typeof value !== "object" || value === null) return `Upravené ${mark}`;
  if (!("content" in value)) throw new Missing();
  return { ...value, content: `Dohodnuté ${mark}` };
}

/** Tries `act` with one record after another, in random order, until the rules allow it; undefined where they do not. */
function withAny<T>({ company, random }: Actor, table: TableName, act: (id: number) => T): T | undefined {
  const ids = Array.from(company.tables[table].values(), ({ id }) => id);
  for (let tries = 0; tries < mostTries && ids.length > 0; tries++) {
    const [id = 0] = ids.splice(random.int(0, ids.length - 1), 1);
    try {
      return act(id);
    } catch (cause) {
      if (!isRefusedByRules(cause)) throw cause;
    }
  }
  return undefined;
}

/** Acts on the named record; else on any that allows it, or on one that is created for it. Gives its id. */
function perform(actor: Actor, table: TableName, change: string, id: number | null): number {
  const action = actions[change];
  const act = (one: number) => {
    action?.(actor, table, one);
    return one;
  };
  if (id !== null && !action)
    throw new MirrorError("usage", "a new record gets its id from the service", {
      hint: "leave the id out, or forge the event",
    });
  if (id !== null) return act(id);
  const input = () => present(newRecords[table]?.(actor, actor.random.int(100, 999_999)));
  return (action && withAny(actor, table, act)) ?? act(writable[table].create(actor.company, input()).id);
}

/**
 * Makes an event happen by a fitting change under the company's own rules, or, with `forge`, emits it without one. Without
 * an id the record is chosen. Gives what was done, and every event that followed from it.
 *
 * @throws MirrorError `usage` for an unknown event; Invalid, Missing where the rules refuse the change
 */
export function trigger(actor: Actor, event: string, id: number | null = null, forge = false) {
  if (!eventTypes.includes(event))
    throw new MirrorError("usage", unknownName("event", event, eventTypes), {
      hint: `events are ${eventTypes.join(", ")}`,
    });
  const [path = "", change = ""] = event.split(".");
  const table = tableNames.find((name) => pathOf(name) === path) ?? null;
  const forged = forge || table === null;
  const { company, random } = actor;
  const { events: log } = company;
  const events: SentEvent[] = [];
  const unsubscribe = log.subscribe((one) => events.push(one));
  try {
    const some = () =>
      table ? (actor.find(table)?.id ?? company.tables[table].nextId) : random.int(1, 99_999);
    const done = forged ? (id ?? some()) : perform(actor, table, change, id);
    if (forged) log.append(event, singular(path), done);
    const own = events.find((one) => one.type === event);
    return { event, id: own?.resource.id ?? done, forged, events };
  } finally {
    unsubscribe();
  }
}

/**
 * What `demo` does to a company: writes an invoice, pays one, changes a client and deletes an invoice. Gives changes ready
 * to be made, each with a sentence and the record whose row in the mirror shows it.
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
      const { number, client } = present(invoices.get(id));
      return `invoice ${number} was written for ${client.name}`;
    }),
    ...(unpaid ? [change("invoices.paid", () => `invoice ${unpaid.number} was paid`, unpaid.id)] : []),
    change("clients.updated", (id) => `${clients.get(id)?.name} has a new address`),
    ...(other ? [change("invoices.deleted", () => `invoice ${other.number} was deleted`, other.id)] : []),
  ];
}

/** Of what people do in a working day, `weight` says how often in about a hundred times. */
const allWeights = dayWork.reduce((sum, { weight }) => sum + weight, 0);

/** Does something of a working day, another thing where the rules refuse it. */
export function doSomeWork(actor: Actor): { readonly name: string; readonly events: number } {
  for (let tries = 0; tries < 20; tries++) {
    let rest = actor.random.next() * allWeights;
    const { event, name } = dayWork.find(({ weight }) => (rest -= weight) < 0) ?? dayWork[0]!;
    try {
      return { name, events: trigger(actor, event).events.length };
    } catch (cause) {
      if (!isRefusedByRules(cause)) throw cause;
    }
  }
  return { name: "refused by the rules", events: 0 };
}
