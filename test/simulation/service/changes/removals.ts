import type { ModelTable } from "../simulated-company.ts";
import {
  hotTables,
  said,
  someId,
  type Change,
  type ChangeContext,
  type ChangeOf,
  type HotTable,
} from "./change-context.ts";

/** Deletes a record; what falls with it sends no event. */
export const remove: Change = (context) => removeFrom(context, context.choice.one(hotTables));

/** Deletes a record of one table. */
export const removeFrom: ChangeOf = (context, table) => {
  const id = someId(context, table);
  if (id === null) return null;
  removeRecord(context, table, id);
  return said(context, table, id, "deleted");
};

function removeRecord(context: ChangeContext, table: ModelTable, id: number): void {
  const { company, bin, deletion } = context;
  const { state } = company;
  const kept = bin.get(table) ?? new Map<number, unknown>();
  bin.set(table, kept.set(id, state[table].get(id)));
  state[table].delete(id);
  company.touch(table);
  if (table === "invoices") {
    for (const one of state.document_payments.values())
      if (one.invoiceId === id) removeRecord(context, "document_payments", one.id);
  }
  if (deletion === "soft") return;
  if (table === "clients") {
    for (const one of state.business_cases.values())
      if (one.clientId === id) removeRecord(context, "business_cases", one.id);
  }
  for (const { id: activityId, parent } of state.contact_activity_logs.values())
    if (parent.table === table && parent.id === id)
      removeRecord(context, "contact_activity_logs", activityId);
}

/** A deleted record comes back under its id, alone. */
export const restore: Change = (context) => restoreIn(context, context.choice.one(restorable));

const restorable = ["invoices", "clients", "business_cases", "price_list_items"] as const;
type Restorable = (typeof restorable)[number];

/** Can a deleted record of this table come back? */
export function isRestorable(table: HotTable): table is Restorable {
  return restorable.some((one) => one === table);
}

/** The record of a table that was deleted first comes back. */
export function restoreIn(context: ChangeContext, table: Restorable): string | null {
  const { company, choice, bin } = context;
  const kept = bin.get(table);
  const [id] = kept?.keys() ?? [];
  if (!kept || id === undefined) return null;
  (company.state[table] as Map<number, unknown>).set(id, kept.get(id));
  kept.delete(id);
  return said(context, table, id, choice.one(["created", "updated"]));
}

/** The event of a change is sent although nothing changed. */
export const spuriousEvent: Change = (context) => spuriousEventOf(context, context.choice.one(hotTables));

/** The same, about a record of one table. */
export const spuriousEventOf: ChangeOf = (context, table) => {
  const id = someId(context, table);
  if (id === null) return null;
  const change = context.choice.one(["created", "deleted"]);
  context.company.announce(table, id, change);
  return `event ${table} ${id} ${change}, and nothing changed`;
};
