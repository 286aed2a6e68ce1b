import { centsToNumber, decimal, toNumber } from "../../../connectors/fintoro/sandbox/base/decimal-money.ts";
import { activityTargets, targetFields } from "../../../connectors/fintoro/sandbox/model/catalogue.ts";
import { emit, type Company, type BookRow } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { writable } from "../../../connectors/fintoro/sandbox/resources/all-routes.ts";
import { paymentsOf, totalsOf } from "../../../connectors/fintoro/sandbox/resources/balance.ts";
import { keepUpload } from "../../../connectors/fintoro/sandbox/resources/case-board.ts";
import { isRefusedByRules } from "../../../connectors/fintoro/sandbox/rules/rules.ts";
import type { SeededChoice } from "../../support/seeded-random.ts";
import { hasParent } from "./record-texts.ts";
import type { SimulatedCompany } from "./simulated-company.ts";

export interface ChangeContext {
  readonly simulated: SimulatedCompany;
  /** The same as people write to it: a silent change sends no event. */
  readonly company: Company;
  readonly choice: SeededChoice;
  /** Deleted records, so that they can come back under their ids. */
  readonly bin: Map<HotTable, Map<number, BookRow>>;
  readonly deletion: "hard" | "soft";
  readonly isSilent: boolean;
  /** Do people work on few records: mostly on the oldest of a table? */
  readonly isHot: boolean;
}

/** Tables that people may work on for a while; scenarios choose by their places. */
export const hotTables = [
  "invoices",
  "document_payments",
  "clients",
  "business_cases",
  "price_list_items",
  "contact_activity_logs",
] as const;
export type HotTable = (typeof hotTables)[number];

/** Makes versions of what changed, and says what was done. */
function said({ simulated, isSilent }: ChangeContext, table: HotTable, id: number, change: string): string {
  simulated.publish(table);
  return `${table} ${id} ${change}${isSilent ? ", no event" : ""}`;
}

function someRow({ company, choice, isHot }: ChangeContext, table: HotTable): BookRow | undefined {
  const rows = [...company.tables[table].values()];
  if (rows.length === 0) return undefined;
  return isHot && choice.probability(0.8) ? rows.toSorted((a, b) => a.id - b.id)[0] : choice.one(rows);
}

const someId = (context: ChangeContext, table: HotTable) => someRow(context, table)?.id ?? null;

export function someText({ choice }: ChangeContext, what: string): string {
  return `${what} ${choice.below(1_000)}${choice.one(["", " č", ' "x"', "\n", " 🌲", "'; --"])}`;
}

/** Days on which documents are issued: some are the same. */
const dates = ["2026-11-02", "2026-11-02", "2026-11-03", "2026-11-05"];

function newLine(context: ChangeContext): BookRow {
  const { company, choice } = context;
  const priceListItemId = choice.probability(0.5) ? someId(context, "price_list_items") : null;
  const sum = { unitPrice: 1 + choice.below(50_000) / 100, quantity: 1, vatRate: 0, unitId: 1 };
  const own = { id: company.nextPartId(), uuid: company.random.uuid(), name: someText(context, "Line") };
  return { ...own, ...sum, priceListItemId, discountType: null, discountValue: null } as BookRow;
}

const pdf = { name: "a.pdf", mimeType: "application/pdf", content: Buffer.alloc(0) };

/** What is sent to create a record; a field is null where there is nothing that it could name. */
const inputs: Readonly<Record<HotTable, (context: ChangeContext) => object>> = {
  clients: (context) => ({ name: someText(context, "Client") }),
  business_cases: (context) => ({ name: someText(context, "Case"), clientId: someId(context, "clients") }),
  // Names may be the same.
  price_list_items: ({ simulated, choice }) => ({
    name: `Item ${choice.below(4)}`,
    unitId: choice.one([...simulated.units.keys()]),
    unitPrice: choice.below(10_000) / 100,
    vatRate: 0,
  }),
  invoices: (context) => ({
    clientId: someId(context, "clients"),
    number: `2026${String(context.company.tables.invoices.nextId).padStart(5, "0")}`,
    issueDate: context.choice.one(dates),
    items: Array.from({ length: 1 + context.choice.below(3) }, () => newLine(context)),
  }),
  document_payments: (context) => {
    const { choice } = context;
    const invoice = someRow(context, "invoices");
    const total = invoice ? centsToNumber(totalsOf(invoice).gross) : 0;
    const amount = choice.probability(0.5) && total > 0 ? total : (1 + choice.below(1_000)) / 100;
    const paymentDate = choice.one(dates);
    return { documentType: "invoice", documentId: invoice?.id ?? null, amount, paymentDate };
  },
  // A note, or one that shows an invoice.
  contact_activity_logs: (context) => {
    const { choice } = context;
    const [field, table] = choice.one([
      ["clientId", "clients"],
      ["businessCaseId", "business_cases"],
    ] as const);
    const owner = { [field]: someId(context, table) };
    const documentId = choice.probability(0.3) ? someId(context, "invoices") : null;
    const content = choice.probability(0.2) ? "" : someText(context, "Note");
    const note = { type: "note", metadata: { content } };
    const linked = { type: "document_linked", metadata: { documentType: "invoice", documentId } };
    const tokens = choice.probability(0.3) ? [keepUpload(context.company, pdf)] : [];
    return { ...owner, ...(documentId === null ? note : linked), attachmentUploadTokens: tokens };
  },
};

/** Adds a record, if there is what it refers to. An invoice that is paid by a payment changes with it. */
export function add(context: ChangeContext, table: HotTable): string | null {
  const { company, choice } = context;
  try {
    const row = writable[table].create(company, inputs[table](context));
    if (table === "price_list_items") setStock(company, row.id, [choice.below(9), choice.one([null, 5])]);
    return said(context, table, row.id, "created");
  } catch (cause) {
    if (isRefusedByRules(cause)) return null;
    throw cause;
  }
}

type Levels = readonly (number | null)[];

/** Lays so much of an item into the warehouses; null: it is not kept there. */
function setStock({ stock, tables }: Company, id: number, levels: Levels): void {
  const places = Array.from(tables.warehouses.values(), (one, i) => [one.id, levels[i] ?? null] as const);
  const kept = places.flatMap(([place, level]) => (level === null ? [] : [[place, decimal(level)] as const]));
  stock.set(id, new Map(kept));
}

const stockOf = ({ stock, tables }: Company, id: number): Levels =>
  Array.from(tables.warehouses.values(), (one) => {
    const level = stock.get(id)?.get(one.id);
    return level === undefined ? null : toNumber(level);
  });

/** Which fields of a record people change, and to what. A payment never changes. */
const edits: Readonly<Record<HotTable, (context: ChangeContext, row: BookRow) => Partial<BookRow>>> = {
  // Cases show the new name without an event.
  clients: (context) => ({
    name: someText(context, "Other client"),
    city: context.choice.one([null, "Brno", ""]),
  }),
  business_cases: (context) => ({ name: someText(context, "Other case") }),
  price_list_items: ({ choice }) =>
    choice.probability(0.5) ? { name: `Item ${choice.below(4)}` } : { unitPrice: choice.below(10_000) / 100 },
  // What its list shows, its note, or its lines, down to none.
  invoices: (context, { items }) => {
    const { choice } = context;
    const renamed = () => items.map((line) => ({ ...line, name: someText(context, "Other line") }));
    return choice.one([
      () => ({ issueDate: choice.one(dates) }),
      () => ({ note: choice.one([null, "", someText(context, "A note")]) }),
      () => ({ items: [] }),
      () => ({ items: [...items, newLine(context)] }),
      () => ({ items: items.toReversed() }),
      () => ({ items: renamed() }),
    ])();
  },
  document_payments: () => ({}),
  contact_activity_logs: (context, { metadata }) => ({
    metadata: { ...metadata, content: someText(context, "Other note") },
    attachments: context.choice.probability(0.5) ? [] : [{ id: context.company.nextPartId(), ...pdf }],
  }),
};

export function edit(context: ChangeContext, table: HotTable): string | null {
  const { company, choice } = context;
  if (table === "document_payments") return add(context, table);
  const row = someRow(context, table);
  if (!row || (table === "contact_activity_logs" && !hasParent(company, row))) return null;
  if (table === "price_list_items" && choice.probability(0.5)) return moveStock(context, row.id);
  writable[table].change(company, row, edits[table](context, row));
  return said(context, table, row.id, "updated");
}

/** Moves the stock of an item: between its warehouses, where only its own route shows it, or to other levels. */
function moveStock(context: ChangeContext, id: number): string {
  const { company, choice } = context;
  const before = stockOf(company, id);
  const other = choice.one([[], [0, null], [choice.below(9), choice.below(9)]]);
  setStock(company, id, choice.probability(0.5) ? before.toReversed() : other);
  emit(company, "price_list_items", "stock-updated", id);
  return said(context, "price_list_items", id, "stock-updated");
}

/** Deletes a record; what falls with it sends no event. */
export function remove(context: ChangeContext, table: HotTable): string | null {
  const row = someRow(context, table);
  if (!row) return null;
  takeAway(context, table, row);
  emit(context.company, table, "deleted", row.id);
  return said(context, table, row.id, "deleted");
}

function takeAway(context: ChangeContext, table: HotTable, row: BookRow): void {
  const { company, bin, deletion } = context;
  const { tables } = company;
  bin.set(table, (bin.get(table) ?? new Map<number, BookRow>()).set(row.id, row));
  tables[table].remove(row.id);
  const payments = table === "invoices" ? paymentsOf(company, row) : [];
  for (const one of payments) takeAway(context, "document_payments", one);
  if (deletion === "soft") return;
  const cases = table === "clients" ? tables.business_cases.findBy("clientId", row.id) : [];
  for (const one of cases) takeAway(context, "business_cases", one);
  const field = targetFields.find((one) => activityTargets[one] === table);
  const logs = field ? tables.contact_activity_logs.findBy(field, row.id) : [];
  for (const one of logs) takeAway(context, "contact_activity_logs", one);
}

export const restorable: readonly HotTable[] = ["invoices", "clients", "business_cases", "price_list_items"];

/** The record of a table that was deleted first comes back under its id, alone. */
export function restore(context: ChangeContext, table: HotTable): string | null {
  const { company, choice, bin } = context;
  const [row] = bin.get(table)?.values() ?? [];
  if (!row) return null;
  bin.get(table)?.delete(row.id);
  company.tables[table].replace(row);
  const change = choice.one(["created", "updated"] as const);
  emit(company, table, change, row.id);
  return said(context, table, row.id, change);
}

/** An event is sent although nothing changed. */
export function spuriousEvent(context: ChangeContext, table: HotTable): string | null {
  const id = someId(context, table);
  if (id === null) return null;
  const change = context.choice.one(["created", "deleted"] as const);
  emit(context.company, table, change, id);
  return `event ${table} ${id} ${change}, and nothing changed`;
}
