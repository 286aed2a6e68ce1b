import { lookup } from "../../../connectors/fintoro/sandbox/lookups/lookup-lists.ts";
import type { BookRow } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { writable } from "../../../connectors/fintoro/sandbox/resources/all-routes.ts";
import words from "../../../connectors/fintoro/sandbox/samples/words.json" with { type: "json" };
import type { Oddity } from "../scenarios/scenario.ts";
import {
  add,
  edit,
  hotTables,
  remove,
  restore,
  restorable,
  spuriousEvent,
  someText,
  type ChangeContext,
  type HotTable,
} from "./record-changes.ts";
import { hasParent, type Writing } from "./record-texts.ts";
import { tableNames, type ServiceOptions, type TableName } from "./service-types.ts";

/** A change: what it did, for the trace; null where there was nothing to change. */
type Change = (context: ChangeContext) => string | null;

/** Adds a unit of measure, or renames one: items show the new name. No event is sent. */
function nameUnit(context: ChangeContext, isNew: boolean): string | null {
  const { simulated, choice } = context;
  const id = isNew ? simulated.units.size + 1 : choice.one([...simulated.units.keys()]);
  if (!lookup("units", id)) return null;
  simulated.units.set(id, someText(context, "unit"));
  simulated.publish("units");
  return `unit ${id} has a name`;
}

/** The company gets another name; its documents show it too. No event is sent. */
const renameCompany: Change = ({ simulated, choice }) => {
  const { company } = simulated;
  const name = `Acme ${choice.below(100)}`;
  company.name = name;
  for (const one of company.tables.invoices.values())
    company.tables.invoices.replace({ ...one, company: { ...one.company, name } });
  simulated.publish("company", "invoices");
  return `company is now ${name}`;
};

/** A new version of the service writes records otherwise. */
function write({ simulated }: ChangeContext, changed: Partial<Writing>, ...tables: TableName[]): string {
  simulated.writing = { ...simulated.writing, ...changed };
  simulated.publish(...tables);
  return `format: ${JSON.stringify(simulated.writing)}`;
}

/** It shows fields that no connector knows, or no more. */
const toggleUnknownField: Change = (context) =>
  write(context, { hasUnknownField: !context.simulated.writing.hasUnknownField }, "clients", "invoices");

const changeFormat: Change = (context) => {
  if (context.choice.probability(0.5)) return toggleUnknownField(context);
  const { amountsAsText } = context.simulated.writing;
  return write(context, { amountsAsText: !amountsAsText }, "invoices", "price_list_items");
};

/** Events of received documents, which have no route, and of a type that no connector knows. */
const oddEvent: Change = ({ company, choice }) => {
  const [type, resourceType] = choice.one([
    ["received-invoices.paid", "receivedInvoice"],
    ["loyalty-points.granted", "loyaltyPoint"],
    ["suppliers.updated", "supplier"],
  ] as const);
  const id = 1 + choice.below(99);
  company.events.append(type, resourceType, id);
  return `event ${type} ${id}`;
};

const weighted: readonly (readonly [weight: number, change: Change])[] = [
  [3, (context) => add(context, "clients")],
  [3, (context) => add(context, "business_cases")],
  [2, (context) => add(context, "price_list_items")],
  [5, (context) => add(context, "invoices")],
  [5, (context) => add(context, "document_payments")],
  [4, (context) => add(context, "contact_activity_logs")],
  [1, (context) => nameUnit(context, true)],
  [1, (context) => nameUnit(context, false)],
  [5, (context) => edit(context, "clients")],
  [3, (context) => edit(context, "business_cases")],
  [5, (context) => edit(context, "price_list_items")],
  [9, (context) => edit(context, "invoices")],
  [4, (context) => edit(context, "contact_activity_logs")],
  [7, (context) => remove(context, context.choice.one(hotTables))],
  [3, (context) => restore(context, context.choice.one(restorable))],
  [0.3, renameCompany],
  [0.5, changeFormat],
  [1, oddEvent],
  [1, (context) => spuriousEvent(context, context.choice.one(hotTables))],
];
const allWeights = weighted.reduce((sum, [weight]) => sum + weight, 0);

/** Makes one random change; returns what it did, or null where there was nothing to change. */
export const makeChange: Change = (context) => {
  let left = context.choice.below(allWeights * 1_000) / 1_000;
  const [, change] = weighted.find(([weight]) => (left -= weight) < 0) ?? weighted[0]!;
  return change(context);
};

/** Makes one random change of a record of this table, or of what shows it; null where there was nothing to change. */
export function makeHotChange(context: ChangeContext, table: HotTable): string | null {
  const kind = context.choice.below(10);
  if (kind === 0) return spuriousEvent(context, table);
  if (kind === 1) return context.choice.probability(0.3) ? changeFormat(context) : makeChange(context);
  if (kind <= 3) return (restorable.includes(table) ? restore(context, table) : null) ?? edit(context, table);
  return kind <= 5 ? remove(context, table) : edit(context, table);
}

/** In an order in which each finds what it refers to. */
const ordered = tableNames.filter((table) => table !== "company" && table !== "units");

/** Fills a new company; no event is heard yet. */
export function fillCompany(context: ChangeContext, size: Required<ServiceOptions>["size"]): void {
  const { company, choice } = context;
  const countOf = (table: TableName) =>
    typeof size === "number" ? Math.floor(size * (0.5 + choice.below(100) / 100)) : (size[table] ?? 0);
  for (const one of words.warehouses) writable.warehouses.create(company, one);
  nameUnit(context, true);
  nameUnit(context, true);
  for (const table of ordered) for (let left = countOf(table); left > 0; left--) add(context, table);
}

/** Adds a record to each resource that has none, with its event. */
export function addWhereNoneIs(context: ChangeContext): void {
  const { tables } = context.company;
  for (const table of ordered) {
    const isShown = (row: BookRow) => table !== "contact_activity_logs" || hasParent(context.company, row);
    if (tables[table].where(isShown).length === 0) add(context, table);
  }
}

/** Ids of malformed records: no other record has them. */
const firstMalformedId = 900_000;

/** The service shows or sends what nobody expects; gives what, for the story. */
export function makeOdd(context: ChangeContext, what: Oddity): string {
  const make = oddChanges[what];
  return make ? (make(context) ?? what) : `${what}: ${writeMalformed(context, what)}`;
}

/** All but malformed records. */
const oddChanges: Readonly<Partial<Record<Oddity, Change>>> = {
  // Its body is the sender's.
  "unreadable event": () => null,
  "odd event": oddEvent,
  "company renamed": renameCompany,
  "unknown field": toggleUnknownField,
};

/** A client without an id, or one whose name is no text: another one, or one that was there before with another name. */
function writeMalformed({ simulated, choice }: ChangeContext, what: Oddity): number {
  const { malformed } = simulated;
  const isKnown = (one: number) =>
    malformed.history("clients", one).at(-1)?.shown?.detail.startsWith('{"id"') === true;
  const ids = [...malformed.ids("clients")];
  const known = what === "malformed record changed" ? ids.find(isKnown) : undefined;
  const id = known ?? firstMalformedId + ids.length;
  const odd = choice.below(1_000_000);
  const text =
    what === "record without an id"
      ? `{"name":"Nobody ${odd}","type":"company"}`
      : `{"id":${id},"name":{"odd":${odd}},"type":"company"}`;
  simulated.writeMalformed("clients", id, text);
  return id;
}
