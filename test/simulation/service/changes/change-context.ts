import type { SeededChoice } from "../../../support/company/scenario.ts";
import type { InvoiceModel, RecordOf } from "../record-models.ts";
import type { ModelTable, SimulatedCompany } from "../simulated-company.ts";

/** How people change a company. */
export interface ChangeContext {
  readonly company: SimulatedCompany;
  readonly choice: SeededChoice;
  readonly nowMs: () => number;
  /** Deleted records, so that they can come back under their ids. */
  readonly bin: Map<ModelTable, Map<number, unknown>>;
  readonly deletion: "hard" | "soft";
  /** Is this change one that sends no event? */
  readonly silent: boolean;
  /** Do people work on few records: mostly on the oldest of a table? */
  readonly isHot: boolean;
}

/** A change: what it did, for the trace; null where there was nothing to change. */
export type Change = (context: ChangeContext) => string | null;

/** A change of a record of one table. */
export type ChangeOf = (context: ChangeContext, table: HotTable) => string | null;

/** Tables that people may work on for a while. */
export const hotTables = [
  "invoices",
  "document_payments",
  "clients",
  "business_cases",
  "price_list_items",
  "contact_activity_logs",
] as const;
export type HotTable = (typeof hotTables)[number];

/** Makes versions of what changed, sends the event, and says what was done. */
export function said(
  { company, silent }: ChangeContext,
  table: ModelTable,
  id: number,
  change: string,
): string {
  company.touch(table);
  company.publish();
  if (!silent) company.announce(table, id, change);
  return `${table} ${id} ${change}${silent ? ", no event" : ""}`;
}

/** A record of the table, or null where it has none. */
export function someId(
  { company: { state }, choice, isHot }: ChangeContext,
  table: ModelTable,
): number | null {
  const ids = [...state[table].keys()];
  if (ids.length === 0) return null;
  return isHot && choice.probability(0.8) ? Math.min(...ids) : choice.one(ids);
}

/** The same as people see it; undefined where there is none. */
export function someRecord<T extends ModelTable>(context: ChangeContext, table: T): RecordOf<T> | undefined {
  const id = someId(context, table);
  return (context.company.state[table] as Map<number | null, RecordOf<T>>).get(id);
}

/** Adds a record to its table. */
export function added<T extends ModelTable>(
  context: ChangeContext,
  table: T,
  record: RecordOf<T> & { readonly id: number },
): string {
  (context.company.state[table] as Map<number, RecordOf<T>>).set(record.id, record);
  return said(context, table, record.id, "created");
}

/** A text with what texts may hold. */
export function textOf({ choice }: ChangeContext, what: string): string {
  return `${what} ${choice.below(1_000)}${choice.one(["", " č", ' "x"', "\n", " 🌲", "'; --"])}`;
}

/** Days on which documents are issued: some are the same. */
export const dates = ["2026-11-02", "2026-11-02", "2026-11-03", "2026-11-05"];

/** A new line of an invoice. */
export function newLine(context: ChangeContext): InvoiceModel["lines"][number] {
  const { company, choice } = context;
  const cents = 100 + choice.below(50_000);
  const priceListItemId = choice.probability(0.5) ? someId(context, "price_list_items") : null;
  return { id: company.nextId("lines"), name: textOf(context, "Line"), cents, priceListItemId };
}
