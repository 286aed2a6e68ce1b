import type { SeededChoice } from "../../support/company/scenario.ts";
import * as additions from "./changes/additions.ts";
import type { Change, ChangeContext, HotTable } from "./changes/change-context.ts";
import * as edits from "./changes/edits.ts";
import type { ModelTable } from "./simulated-company.ts";
import * as removals from "./changes/removals.ts";

/** Changes with their weights: how often each is made. */
const weighted: readonly (readonly [weight: number, change: Change])[] = [
  [3, additions.addClient],
  [3, additions.addCase],
  [2, additions.addItem],
  [5, additions.addInvoice],
  [4, additions.addActivity],
  [1, additions.addUnit],
  [5, edits.editClient],
  [3, edits.editCase],
  [5, edits.editItem],
  [9, edits.editInvoice],
  [4, edits.editActivity],
  [5, additions.addPayment],
  [7, removals.remove],
  [3, removals.restore],
  [1, edits.editUnit],
  [0.3, edits.renameCompany],
  [0.5, edits.changeFormat],
  [1, edits.oddEvent],
  [1, removals.spuriousEvent],
];
const allWeights = weighted.reduce((sum, [weight]) => sum + weight, 0);

function someChange(choice: SeededChoice): Change {
  let left = choice.below(allWeights * 1_000) / 1_000;
  for (const [weight, change] of weighted) if ((left -= weight) < 0) return change;
  return edits.editInvoice;
}

/** Makes one random change; returns what it did, or null where there was nothing to change. */
export function makeChange(context: ChangeContext): string | null {
  return someChange(context.choice)(context);
}

const edited: Readonly<Record<HotTable, Change>> = {
  invoices: edits.editInvoice,
  document_payments: additions.addPayment,
  clients: edits.editClient,
  business_cases: edits.editCase,
  price_list_items: edits.editItem,
  contact_activity_logs: edits.editActivity,
};

/** Makes one random change of a record of this table, or of what shows it; null where there was nothing to change. */
export function makeHotChange(context: ChangeContext, table: HotTable): string | null {
  const kind = context.choice.below(10);
  if (kind === 0) return removals.spuriousEventOf(context, table);
  if (kind === 1) return context.choice.probability(0.3) ? edits.changeFormat(context) : makeChange(context);
  if (kind <= 3 && removals.isRestorable(table))
    return removals.restoreIn(context, table) ?? edited[table](context);
  return kind === 4 || kind === 5 ? removals.removeFrom(context, table) : edited[table](context);
}

/** Fills a new company with `size` records of each resource, about; no event is heard yet. */
export function fillCompany(context: ChangeContext, size: number): void {
  const { choice } = context;
  const make = (change: Change, count: number) => {
    for (let left = count; left > 0; left--) change(context);
  };
  const some = () => Math.floor(size * (0.5 + choice.below(100) / 100));
  make(additions.addUnit, 2);
  make(additions.addClient, some());
  make(additions.addCase, some());
  make(additions.addItem, some());
  make(additions.addInvoice, some());
  make(additions.addPayment, some());
  make(additions.addActivity, some());
}

/** Adds a record to each resource that has none, with its event. */
export function addWhereNoneIs(context: ChangeContext): void {
  const { state } = context.company;
  for (const [table, add] of additionsByTable) if (state[table].size === 0) add(context);
  const isListed = [...state.contact_activity_logs.values()].some(({ parent }) =>
    state[parent.table].has(parent.id),
  );
  if (!isListed) additions.addActivity(context);
}

/** In an order in which each finds what it refers to. */
const additionsByTable: readonly (readonly [ModelTable, Change])[] = [
  ["units", additions.addUnit],
  ["clients", additions.addClient],
  ["business_cases", additions.addCase],
  ["price_list_items", additions.addItem],
  ["invoices", additions.addInvoice],
  ["document_payments", additions.addPayment],
];
