import { z } from "zod";
import { decimal, toNumber } from "../../base/decimal-money.ts";
import { formatNumber } from "../../base/identifiers.ts";
import type { Client, Stamped } from "../../model/contact-records.ts";
import type { Table } from "../../model/record-table.ts";
import {
  receiptLineShape,
  type LineInput,
  type Receipt,
  type ReceiptLine,
  type Warehouse,
} from "../../model/warehouse-records.ts";
import { check, expectLookups, type Problems } from "../../rules/problems.ts";
import { date, id, parse, text } from "../../rules/request-shape.ts";
import { emit, type Company } from "../company-state.ts";
import { stampsOf, type Writes } from "../record-writes.ts";
import {
  clientDraft,
  clientSnapshot,
  overlaid,
  resolveClient,
  resolveSupplier,
  supplierDraft,
  supplierSnapshot,
} from "../crm/contact-rules.ts";

/** Goods that come in, or goods that go out. */
export type Side = "inbound" | "outbound";

const headShape = {
  number: text(20).min(1),
  warehouseId: id(),
  languageId: id(),
  issueDate: date(),
  note: text(3000).nullable().default(null),
  items: z.array(receiptLineShape).min(1),
};
const inboundShape = z.object({
  ...headShape,
  supplierId: id().nullish(),
  supplier: supplierDraft.nullish(),
});
const outboundShape = z.object({ ...headShape, clientId: id().nullish(), client: clientDraft.nullish() });

type Sent = z.output<typeof inboundShape> & z.output<typeof outboundShape>;
type Partner = Pick<Receipt, "partnerId" | "partner">;

/** How the two sides differ. */
export const sides = {
  inbound: {
    table: "warehouse_inbound_receipts",
    shape: inboundShape,
    sign: 1n,
    partner: "supplier",
    contacts: "suppliers",
    resolve: resolveSupplier,
    snapshot: supplierSnapshot,
  },
  outbound: {
    table: "warehouse_outbound_receipts",
    shape: outboundShape,
    sign: -1n,
    partner: "client",
    contacts: "clients",
    resolve: resolveClient,
    snapshot: clientSnapshot,
  },
} as const;

/** The receipts of one side. */
export function receiptTable(company: Company, side: Side): Table<Receipt> {
  return company.tables[sides[side].table];
}

/** Creating, replacing and removing receipts of one side. Each moves the stock. */
export function receiptWrites(side: Side): Writes<Receipt> {
  return {
    create: (company, input) => addReceipt(company, side, factsFrom(company, side, input, null), null),
    update: (company, own, input) => changeReceipt(company, side, own, factsFrom(company, side, input, own)),
    remove: (company, own) => deleteReceipt(company, side, own),
  };
}

type ReceiptFacts = Omit<Receipt, "id" | "uuid" | "company" | "madeBy" | keyof Stamped>;

/** Adds a receipt; a receipt with the warehouse's next number makes the warehouse count on. */
export function addReceipt(company: Company, side: Side, facts: ReceiptFacts, madeBy: Receipt["madeBy"]) {
  const own = { uuid: company.random.uuid(), company: company.snapshot, madeBy, ...stampsOf(company) };
  const receipt = receiptTable(company, side).add((newId) => ({ id: newId, ...own, ...facts }));
  moveStock(company, side, null, receipt);
  const warehouse = company.tables.warehouses.get(receipt.warehouseId);
  if (warehouse && nextReceiptNumber(company, side, warehouse) === receipt.number) {
    const field = `${side}NumericalSeriesNextNumber` as const;
    company.tables.warehouses.replace({ ...warehouse, [field]: warehouse[field] + 1 });
  }
  return receipt;
}

/** Replaces a receipt's facts and moves the stock by the difference. */
export function changeReceipt(company: Company, side: Side, before: Receipt, facts: Partial<ReceiptFacts>) {
  const after = { ...before, ...facts, ...stampsOf(company, before) };
  receiptTable(company, side).replace(after);
  moveStock(company, side, before, after);
  return after;
}

/** Removes a receipt and takes its movement of stock back. */
export function deleteReceipt(company: Company, side: Side, receipt: Receipt): void {
  receiptTable(company, side).remove(receipt.id);
  moveStock(company, side, receipt, null);
}

/** Moves the stock from `before` to `after`; emits an event for the receipt and for every item that moved. */
function moveStock(company: Company, side: Side, before: Receipt | null, after: Receipt | null): void {
  const { stock, tables } = company;
  const lines = [...(after?.lines ?? []), ...(before?.lines ?? [])];
  const levels = new Map(lines.map(({ priceListItemId: item }) => [item, stock.total(item)]));
  if (after) applyLines(company, side, after, 1n);
  if (before) applyLines(company, side, before, -1n);
  const change = !before ? "created" : after ? "updated" : "deleted";
  emit(company, sides[side].table, change, (after ?? before)?.id ?? 0);
  for (const [itemId, level] of levels) {
    if (stock.total(itemId) !== level && tables.price_list_items.has(itemId))
      emit(company, "price_list_items", "stock-updated", itemId);
  }
}

/** Adds a receipt's quantities to the stock, or takes them back with `factor` -1. */
export function applyLines({ stock }: Company, side: Side, receipt: Receipt, factor: bigint): void {
  const { warehouseId } = receipt;
  for (const { priceListItemId: itemId, quantity } of receipt.lines)
    stock.move(itemId, warehouseId, sides[side].sign * factor * decimal(quantity));
}

function factsFrom(company: Company, side: Side, input: unknown, own: Receipt | null): ReceiptFacts {
  const sent = parse<z.ZodType<Sent>>(sides[side].shape, input);
  const { items, number: wanted, warehouseId, languageId, issueDate, note } = sent;
  check((problems) => {
    expectLookups(problems, sent);
    problems.expect(company.tables.warehouses.has(warehouseId), "warehouseId", "exists");
    problems.expectUnique("number", receiptTable(company, side).findBy("number", wanted), own);
    expectPartner(company, problems, side, sent);
    for (const [i, line] of items.entries()) expectStocked(company, problems, line, `items.${i}`);
  });
  check((problems) => {
    if (side === "outbound") expectStock(company, problems, { warehouseId, lines: items, own });
  });
  const partner = partnerFor(company, side, sent);
  const lines = items.map((line) => receiptLine(company, line));
  return { number: wanted, warehouseId, languageId, issueDate, note, lines, ...partner };
}

function expectPartner(company: Company, problems: Problems, side: Side, sent: Sent): void {
  const { partner, contacts } = sides[side];
  const { [`${partner}Id` as const]: partnerId = null, [partner]: draft } = sent;
  problems.expect(partnerId === null || company.tables[contacts].has(partnerId), `${partner}Id`, "exists");
  if (!draft) return;
  problems.expect(draft.name !== undefined, `${partner}.name`, "required");
  expectLookups(problems, draft, `${partner}.`);
}

function expectStocked(company: Company, problems: Problems, line: LineInput, at: string): void {
  const item = company.tables.price_list_items.get(line.priceListItemId);
  problems.expect(item !== undefined, `${at}.priceListItemId`, "exists");
  if (item) problems.expect(item.useWarehouse, `${at}.priceListItemId`, "not_stocked");
}

/** What is to leave a warehouse, and the receipt that has taken a part of it already. */
interface Withdrawal {
  readonly warehouseId: number;
  readonly lines: readonly Pick<LineInput, "priceListItemId" | "quantity">[];
  readonly own: Receipt | null;
}

/** There is enough of every item, what the receipt itself has taken included. */
export function expectStock(company: Company, problems: Problems, withdrawal: Withdrawal): void {
  const { warehouseId, lines, own } = withdrawal;
  const wanted = new Map<number, { quantity: bigint; at: number }>();
  for (const [at, { priceListItemId, quantity }] of lines.entries()) {
    const sum = (wanted.get(priceListItemId)?.quantity ?? 0n) + decimal(quantity);
    wanted.set(priceListItemId, { quantity: sum, at });
  }
  for (const [itemId, { quantity, at }] of wanted) {
    const item = company.tables.price_list_items.get(itemId);
    const available = company.stock.level(itemId, warehouseId) + takenBy(own, itemId, warehouseId);
    if (!item || item.enableNegativeStock || available >= quantity) continue;
    const values = { item: item.name, available: toNumber(available), wanted: toNumber(quantity) };
    problems.add(`items.${at}.quantity`, "stock", values);
  }
}

function takenBy(receipt: Receipt | null, itemId: number, warehouseId: number): bigint {
  if (receipt?.warehouseId !== warehouseId) return 0n;
  const own = receipt.lines.filter((one) => one.priceListItemId === itemId);
  return own.reduce((sum, { quantity }) => sum + decimal(quantity), 0n);
}

/** The partner that is named, else the one that the sent facts describe, else none. */
function partnerFor(company: Company, side: Side, sent: Sent): Partner {
  const { partner, contacts, resolve, snapshot } = sides[side];
  const { [`${partner}Id` as const]: partnerId, [partner]: draft } = sent;
  const named = partnerId ? company.tables[contacts].get(partnerId) : undefined;
  const found = named ?? (draft ? resolve(company, draft) : undefined);
  if (!found) return { partnerId: null, partner: null };
  const copy = overlaid(snapshot(found as Client), named ? (draft ?? null) : null);
  return { partnerId: found.id, partner: copy };
}

/** A line as it is kept, with the item's name, code and unit of now. */
export function receiptLine(company: Company, line: LineInput): ReceiptLine {
  const listed = company.tables.price_list_items.get(line.priceListItemId);
  return {
    id: company.settings.nextPartId++,
    ...line,
    itemName: listed?.name ?? "",
    itemCode: listed?.warehouseCode ?? null,
    unitId: listed?.unitId ?? 1,
  };
}

/** The number that the warehouse gives next. */
export function nextReceiptNumber({ settings }: Company, side: Side, warehouse: Warehouse): string {
  const { [`${side}NumericalSeriesPattern` as const]: pattern } = warehouse;
  return formatNumber(pattern, settings.today, warehouse[`${side}NumericalSeriesNextNumber`]);
}
