import { z } from "zod";
import { centsToNumber, decimal, productCents, toNumber, withVatCents } from "../base/decimal-money.ts";
import { formatNumber } from "../base/identifiers.ts";
import { pick, type JsonObject } from "../base/values.ts";
import type { Language } from "../lookups/languages.ts";
import { euro, lookup } from "../lookups/lookup-lists.ts";
import { emit, type Company } from "../model/company-state.ts";
import { receiptLineShape, type Client, type LineInput } from "../model/records.ts";
import type { Receipt, ReceiptLine, Warehouse } from "../model/records.ts";
import { check, type Problems } from "../rules/problems.ts";
import { choice, date, id, parse, text } from "../rules/request-shape.ts";
import * as partners from "./partners.ts";
import { by, byTimes, tenPerPage } from "./record-list.ts";
import { collection, stampsOf } from "./collection.ts";
import { priceWithVat } from "./stock.ts";

/** Goods that come in, or goods that go out. */
export type Side = "inbound" | "outbound";

const headShape = {
  number: text(20).min(1),
  warehouseId: id(),
  languageId: choice("languages"),
  issueDate: date(),
  note: text(3000).nullable().default(null),
  items: z.array(receiptLineShape).min(1),
};
const inboundShape = z.object({
  ...headShape,
  supplierId: id().nullish(),
  supplier: partners.supplierDraft.nullish(),
});
const outboundShape = z.object({
  ...headShape,
  clientId: id().nullish(),
  client: partners.clientDraft.nullish(),
});
type Sent = z.output<typeof inboundShape> & z.output<typeof outboundShape>;

/** How the two sides differ. */
const sides = {
  inbound: {
    table: "warehouse_inbound_receipts",
    shape: inboundShape,
    sign: 1n,
    partner: "supplier",
    contacts: "suppliers",
    resolve: partners.resolveSupplier,
    snapshot: partners.supplierSnapshot,
  },
  outbound: {
    table: "warehouse_outbound_receipts",
    shape: outboundShape,
    sign: -1n,
    partner: "client",
    contacts: "clients",
    resolve: partners.resolveClient,
    snapshot: partners.clientSnapshot,
  },
} as const;

/** Receipts of each side. Each change of one moves the stock. */
export const receipts = { inbound: receiptsOf("inbound"), outbound: receiptsOf("outbound") };

function receiptsOf(side: Side) {
  const { table, partner } = sides[side];
  return collection(table, {
    factsFrom: (company, input, own) => factsFrom(company, side, input, own),
    view: (company, receipt, language) => receiptView(company, side, receipt, language),
    list: {
      filters: {
        warehouseId: by.int(({ warehouseId }: Receipt, wanted) => warehouseId === wanted),
        [`${partner}Id`]: by.int(({ partnerId }: Receipt, wanted) => partnerId === wanted),
        number: by.text(({ number }: Receipt, part) => number.includes(part)),
      },
      sorts: {
        number: ({ number }) => number,
        issue_date: ({ issueDate }) => issueDate,
        created_at: byTimes.createdAt,
        updated_at: byTimes.updatedAt,
      },
      usualOrder: ["created_at", "desc"],
      pageSize: tenPerPage,
    },
    afterChange: (company, before, after) => {
      if (!before && after) countOn(company, side, after);
      moveStock(company, side, before, after);
    },
  });
}

/** What a receipt is made of, apart from what it always has. */
type ReceiptFacts = Pick<
  Receipt,
  | "number"
  | "warehouseId"
  | "languageId"
  | "issueDate"
  | "note"
  | "lines"
  | "partnerId"
  | "partner"
  | "madeBy"
>;

/** All facts of a receipt; those that it always has are kept or new. */
export function receiptFrom(company: Company, facts: ReceiptFacts, own: Receipt | null): Omit<Receipt, "id"> {
  const uuid = own?.uuid ?? company.random.uuid();
  return { uuid, company: own?.company ?? company.snapshot, ...facts, ...stampsOf(company, own) };
}

function factsFrom(company: Company, side: Side, input: unknown, own: Receipt | null): Omit<Receipt, "id"> {
  const { table, shape, partner, contacts: known } = sides[side];
  const { tables } = company;
  const sent = parse<z.ZodType<Sent>>(shape, input);
  const { items, warehouseId, [`${partner}Id` as const]: partnerId, [partner]: draft } = sent;
  check((problems) => {
    problems.expectIn(tables.warehouses, "warehouseId", warehouseId);
    problems.expectUnique("number", tables[table].findBy("number", sent.number), own);
    problems.expectIn(tables[known], `${partner}Id`, partnerId);
    if (draft) problems.expect(draft.name !== undefined, `${partner}.name`, "required");
    for (const [i, { priceListItemId }] of items.entries()) {
      const item = tables.price_list_items.get(priceListItemId);
      problems.expectIn(tables.price_list_items, `items.${i}.priceListItemId`, priceListItemId);
      problems.expect(item?.useWarehouse !== false, `items.${i}.priceListItemId`, "not_stocked");
    }
  });
  check((problems) => {
    if (side === "outbound") expectStock(company, problems, warehouseId, items, own);
  });
  const lines = items.map((line) => receiptLine(company, line));
  const facts = { ...pick(sent, ["number", "warehouseId", "languageId", "issueDate", "note"]), lines };
  return receiptFrom(
    company,
    { ...facts, ...partnerFor(company, side, sent), madeBy: own?.madeBy ?? null },
    own,
  );
}

/** There is enough of every item, what the receipt itself has taken included. */
export function expectStock(
  { tables, stock }: Company,
  problems: Problems,
  warehouseId: number,
  lines: readonly Pick<LineInput, "priceListItemId" | "quantity">[],
  own: Receipt | null,
): void {
  const sums = new Map<number, bigint>();
  for (const line of own?.warehouseId === warehouseId ? own.lines : [])
    sums.set(line.priceListItemId, (sums.get(line.priceListItemId) ?? 0n) - decimal(line.quantity));
  const last = new Map(lines.map(({ priceListItemId }, at) => [priceListItemId, at]));
  for (const { priceListItemId: itemId, quantity } of lines)
    sums.set(itemId, (sums.get(itemId) ?? 0n) + decimal(quantity));
  for (const [itemId, at] of last) {
    const item = tables.price_list_items.get(itemId);
    const [available, wanted] = [stock.level(itemId, warehouseId), sums.get(itemId) ?? 0n];
    if (!item || item.enableNegativeStock || available >= wanted) continue;
    const values = { item: item.name, available: toNumber(available), wanted: toNumber(wanted) };
    problems.expect(false, `items.${at}.quantity`, "stock", values);
  }
}

/** The partner that is named, else the one that the sent facts describe, else none. */
function partnerFor(company: Company, side: Side, sent: Sent): Pick<Receipt, "partnerId" | "partner"> {
  const { partner, contacts: known, resolve, snapshot } = sides[side];
  const { [`${partner}Id` as const]: partnerId, [partner]: draft } = sent;
  const named = company.tables[known].get(partnerId ?? 0);
  const found = named ?? (draft ? resolve(company, draft) : undefined);
  if (!found) return { partnerId: null, partner: null };
  const copy = partners.overlaid(snapshot(found as Client), named ? (draft ?? null) : null);
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

/** A receipt with the warehouse's next number makes the warehouse count on. */
function countOn(company: Company, side: Side, { warehouseId, number }: Receipt): void {
  const warehouse = company.tables.warehouses.get(warehouseId);
  if (!warehouse || nextReceiptNumber(company, side, warehouse) !== number) return;
  const field = `${side}NumericalSeriesNextNumber` as const;
  company.tables.warehouses.replace({ ...warehouse, [field]: warehouse[field] + 1 });
}

/** Moves the stock from `before` to `after`, with an event for every item that moved. */
function moveStock(company: Company, side: Side, before: Receipt | null, after: Receipt | null): void {
  const { stock, tables } = company;
  const lines = [...(after?.lines ?? []), ...(before?.lines ?? [])];
  const levels = new Map(lines.map(({ priceListItemId: item }) => [item, stock.total(item)]));
  const move = (receipt: Receipt | null, sign: bigint) => {
    for (const { priceListItemId: item, quantity } of receipt?.lines ?? [])
      stock.move(item, receipt?.warehouseId ?? 0, sign * decimal(quantity));
  };
  move(after, sides[side].sign);
  move(before, -sides[side].sign);
  for (const [itemId, level] of levels) {
    if (stock.total(itemId) !== level && tables.price_list_items.has(itemId))
      emit(company, "price_list_items", "stock-updated", itemId);
  }
}

/** The partner's id is null once the partner is deleted. */
function receiptView(company: Company, side: Side, receipt: Receipt, language: Language): JsonObject {
  const { partner: name, contacts: known } = sides[side];
  const { partner, partnerId } = receipt;
  const { settings, tables, index } = company;
  const { net, gross } = receiptTotals(receipt);
  return {
    ...pick(receipt, ["id", "uuid", "number", "issueDate", "note"]),
    webDokladUrl: `${settings.publicOrigin}/web-doklad/${index + 1}/warehouse-${side}-receipt/${receipt.uuid}`,
    pdfDownloadUrl: `${settings.publicOrigin}/api/public/v1/warehouse-${side}-receipts/${receipt.id}/pdf`,
    company: { ...receipt.company },
    warehouse: { ...tables.warehouses.get(receipt.warehouseId) },
    currency: lookup("currencies", euro, language),
    language: lookup("languages", receipt.languageId, language),
    hasVat: receipt.lines.some((line) => line.vatRate > 0),
    total: centsToNumber(net),
    totalWithVat: centsToNumber(gross),
    items: receipt.lines.map((line) => lineView(line, language)),
    [`${name}Id`]: tables[known].has(partnerId ?? 0) ? partnerId : null,
    [name]: partner && partners.snapshotView(partner, language),
  };
}

/** The receipt's sums without and with VAT, cents. */
export function receiptTotals({ lines }: Receipt): { net: bigint; gross: bigint } {
  const sums = { net: 0n, gross: 0n };
  for (const { unitPrice, quantity, vatRate } of lines) {
    const net = productCents(decimal(unitPrice), decimal(quantity));
    sums.net += net;
    sums.gross += withVatCents(net, vatRate);
  }
  return sums;
}

function lineView(line: ReceiptLine, language: Language) {
  return {
    ...pick(line, ["id", "priceListItemId", "quantity", "unitPrice", "vatRate"]),
    priceListItemName: line.itemName,
    priceListItemWarehouseCode: line.itemCode,
    unitName: lookup("units", line.unitId, language)?.["name"] ?? null,
    unitPriceWithVat: priceWithVat(line.unitPrice, line.vatRate),
  };
}
