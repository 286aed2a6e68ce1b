import { z } from "zod";
import { yearOf } from "../../base/calendar.ts";
import { decimal, toNumber } from "../../base/decimal-money.ts";
import type {
  Client,
  Party,
  Receipt,
  ReceiptLine,
  Supplier,
  Warehouse,
} from "../../model/company-records.ts";
import type { Table } from "../../model/table.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import { Problems } from "../../rules/refusals.ts";
import { date, id, number, parse, text } from "../../rules/request-shape.ts";
import { snapshotOf } from "../../seed/document-seed.ts";
import type { Company } from "../company-state.ts";
import { emit } from "../emit.ts";
import { formatNumber } from "../../base/document-numbers.ts";
import { clientDraft, overlaid, partyDraft, type ClientDraft } from "../crm/contacts.ts";
import { resolveClient, resolveSupplier } from "../crm/contact-matching.ts";
import type { StockMove } from "../../model/stock-levels.ts";

export type Side = "inbound" | "outbound";

const line = z.object({
  priceListItemId: id(),
  quantity: number(0.00001),
  unitPrice: number(),
  vatRate: number(0, 100),
});
type LineInput = z.output<typeof line>;

const headShape = {
  number: text(20).min(1),
  warehouseId: id(),
  languageId: id(),
  issueDate: date(),
  note: text(3000).nullish(),
  items: z.array(line).min(1),
};
const inboundInput = z.object({ ...headShape, supplierId: id().nullish(), supplier: partyDraft.nullish() });
const outboundInput = z.object({ ...headShape, clientId: id().nullish(), client: clientDraft.nullish() });

type Sent = z.output<typeof inboundInput> & z.output<typeof outboundInput>;

export function receiptTable(company: Company, side: Side): Table<Receipt> {
  return side === "inbound"
    ? company.tables.warehouse_inbound_receipts
    : company.tables.warehouse_outbound_receipts;
}

const tableName = { inbound: "warehouse_inbound_receipts", outbound: "warehouse_outbound_receipts" } as const;

export function createReceipt(company: Company, side: Side, input: unknown): Receipt {
  const sent = checked(company, side, input, null);
  const partner = partnerFor(company, side, sent);
  const now = company.clock.nowMs();
  const receipt = receiptTable(company, side).add((newId) => ({
    id: newId,
    uuid: company.random.uuid(),
    company: company.plan.company,
    ...factsOf(company, sent, partner),
    createdAtMs: now,
    updatedAtMs: now,
    madeBy: null,
  }));
  settle(company, side, null, receipt, "created");
  countOn(company, side, receipt);
  return receipt;
}

export function updateReceipt(company: Company, side: Side, receipt: Receipt, input: unknown): Receipt {
  const sent = checked(company, side, input, receipt);
  const partner = partnerFor(company, side, sent);
  const now = company.clock.nowMs();
  const changed = { ...receipt, ...factsOf(company, sent, partner), updatedAtMs: now };
  receiptTable(company, side).replace(changed);
  settle(company, side, receipt, changed, "updated");
  return changed;
}

export function deleteReceipt(company: Company, side: Side, receipt: Receipt): void {
  receiptTable(company, side).remove(receipt.id);
  settle(company, side, receipt, null, "deleted");
}

/** Moves the stock from what it was to what it is, and tells of the receipt and of every item that moved. */
export function settle(
  company: Company,
  side: Side,
  before: Receipt | null,
  after: Receipt | null,
  change: "created" | "updated" | "deleted",
): void {
  const moves = [...movesOf(side, after, 1n), ...movesOf(side, before, -1n)];
  const touched = new Map<number, bigint>();
  for (const { itemId } of moves) touched.set(itemId, company.stock.total(itemId));
  for (const move of moves) company.stock.move(move);
  emit(company, tableName[side], change, (after ?? before)?.id ?? 0);
  for (const [itemId, level] of touched) {
    const moved = company.stock.total(itemId) !== level;
    if (moved && company.tables.price_list_items.has(itemId))
      emit(company, "price_list_items", "stock-updated", itemId);
  }
}

function movesOf(side: Side, receipt: Receipt | null, sign: bigint): StockMove[] {
  const direction = side === "inbound" ? sign : -sign;
  return (receipt?.lines ?? []).map(({ priceListItemId, quantity }) => ({
    itemId: priceListItemId,
    warehouseId: receipt?.warehouseId ?? 0,
    quantity: direction * decimal(quantity),
  }));
}

function checked(company: Company, side: Side, input: unknown, own: Receipt | null): Sent {
  const sent = (side === "inbound" ? parse(inboundInput, input) : parse(outboundInput, input)) as Sent;
  const problems = new Problems();
  expectLookups(problems, sent);
  problems.expect(company.tables.warehouses.has(sent.warehouseId), "warehouseId", "exists");
  problems.expect(isFree(company, side, sent.number, own), "number", "unique");
  expectPartner(company, problems, sent);
  sent.items.forEach((item, i) => expectStocked(company, problems, item.priceListItemId, `items.${i}`));
  problems.settle();
  if (side === "outbound") expectStock(company, problems, sent.warehouseId, sent.items, own);
  problems.settle();
  return sent;
}

function isFree(company: Company, side: Side, wanted: string, own: Receipt | null): boolean {
  for (const receipt of receiptTable(company, side).values()) {
    if (receipt.number === wanted && receipt.id !== own?.id) return false;
  }
  return true;
}

function expectPartner(company: Company, problems: Problems, sent: Sent): void {
  const { clients, suppliers } = company.tables;
  const rows = [
    ["client", sent.clientId, clients, sent.client],
    ["supplier", sent.supplierId, suppliers, sent.supplier],
  ] as const;
  for (const [field, partnerId, table, draft] of rows) {
    const known = partnerId === null || partnerId === undefined || table.has(partnerId);
    problems.expect(known, `${field}Id`, "exists");
    problems.expect(!draft || draft.name !== undefined, `${field}.name`, "required");
    if (draft) expectLookups(problems, draft, `${field}.`);
  }
}

function expectStocked(company: Company, problems: Problems, itemId: number, at: string): void {
  const item = company.tables.price_list_items.get(itemId);
  if (!item) problems.add(`${at}.priceListItemId`, "exists");
  else problems.expect(item.useWarehouse, `${at}.priceListItemId`, "not_stocked");
}

/** Enough of everything, counting back what the receipt itself has taken so far. */
export function expectStock(
  company: Company,
  problems: Problems,
  warehouseId: number,
  lines: readonly Pick<LineInput, "priceListItemId" | "quantity">[],
  own: Receipt | null,
): void {
  const wanted = new Map<number, { quantity: bigint; at: number }>();
  lines.forEach(({ priceListItemId, quantity }, at) => {
    const sum = (wanted.get(priceListItemId)?.quantity ?? 0n) + decimal(quantity);
    wanted.set(priceListItemId, { quantity: sum, at });
  });
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

/** The one named, else the one that the sent facts describe, else none. */
function partnerFor(company: Company, side: Side, sent: Sent): Pick<Receipt, "partnerId" | "partner"> {
  const { clients, suppliers } = company.tables;
  if (side === "outbound") {
    const client = sent.clientId
      ? clients.get(sent.clientId)
      : sent.client
        ? resolveClient(company, sent.client)
        : undefined;
    return client
      ? { partnerId: client.id, partner: overlaid(snapshotOf(client), draftOver(sent.clientId, sent.client)) }
      : nobody;
  }
  const supplier = sent.supplierId
    ? suppliers.get(sent.supplierId)
    : sent.supplier
      ? resolveSupplier(company, sent.supplier)
      : undefined;
  if (!supplier) return nobody;
  return {
    partnerId: supplier.id,
    partner: overlaid(partyOf(supplier), draftOver(sent.supplierId, sent.supplier)),
  };
}

const nobody = { partnerId: null, partner: null };

/** Facts sent beside an id are for this receipt only; without an id they already made the partner. */
function draftOver(
  partnerId: number | null | undefined,
  draft: ClientDraft | null | undefined,
): ClientDraft | null {
  return partnerId ? (draft ?? null) : null;
}

function partyOf(supplier: Supplier | Client): Party {
  const { type, name, subjectId, taxId, vatId, isVatPayer, email, street, city, zip, countryId } = supplier;
  return { type, name, subjectId, taxId, vatId, isVatPayer, email, street, city, zip, countryId };
}

function factsOf(company: Company, sent: Sent, partner: Pick<Receipt, "partnerId" | "partner">) {
  const { warehouseId, languageId, issueDate, note = null } = sent;
  const lines = sent.items.map((item) => receiptLine(company, item));
  return { number: sent.number, warehouseId, languageId, issueDate, note, lines, ...partner };
}

export function receiptLine(company: Company, item: LineInput): ReceiptLine {
  const listed = company.tables.price_list_items.get(item.priceListItemId);
  return {
    id: company.settings.nextPartId++,
    ...item,
    itemName: listed?.name ?? "",
    itemCode: listed?.warehouseCode ?? null,
    unitId: listed?.unitId ?? 1,
  };
}

/** The number that the warehouse would give next. */
export function nextReceiptNumber(company: Company, side: Side, warehouse: Warehouse): string {
  const pattern = warehouse[`${side}NumericalSeriesPattern`];
  const counter = warehouse[`${side}NumericalSeriesNextNumber`];
  const day = company.settings.today;
  const month = new Date(day * 86_400_000).getUTCMonth() + 1;
  return formatNumber(pattern, { year: yearOf(day), month, counter });
}

/** Who used the next number has used it up. */
export function countOn(company: Company, side: Side, receipt: Receipt): void {
  const warehouse = company.tables.warehouses.get(receipt.warehouseId);
  if (!warehouse || nextReceiptNumber(company, side, warehouse) !== receipt.number) return;
  const field = `${side}NumericalSeriesNextNumber` as const;
  company.tables.warehouses.replace({ ...warehouse, [field]: warehouse[field] + 1 });
}
