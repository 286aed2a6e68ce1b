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
import { choice, date, id, text } from "../rules/request-shape.ts";
import { collection, stampsOf } from "./collection.ts";
import * as partners from "./partners.ts";
import { by, byTimes, tenPerPage } from "./record-list.ts";
import { priceWithVat } from "./stock.ts";

/** Goods that come in, or goods that go out. */
export type Side = "inbound" | "outbound";

const receiptShape = z.object({
  number: text(20).min(1),
  warehouseId: id(),
  languageId: choice("languages"),
  issueDate: date(),
  note: text(3000).nullable().default(null),
  items: z.array(receiptLineShape).min(1),
  supplierId: id().nullish(),
  supplier: partners.supplierDraft.nullish(),
  clientId: id().nullish(),
  client: partners.clientDraft.nullish(),
});
type Sent = z.output<typeof receiptShape>;

/** How the two sides differ. */
const sides = {
  inbound: {
    table: "warehouse_inbound_receipts",
    sign: 1n,
    partner: "supplier",
    contacts: "suppliers",
    resolve: partners.resolveSupplier,
    snapshot: partners.supplierSnapshot,
  },
  outbound: {
    table: "warehouse_outbound_receipts",
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
    shape: receiptShape,
    unique: ["number"],
    facts: ({ company, sent, own }) => {
      const { items, ...head } = pick(sent, [
        "number",
        "warehouseId",
        "languageId",
        "issueDate",
        "note",
        "items",
      ]);
      check((problems) => {
        if (side === "outbound") expectStock(company, problems, sent.warehouseId, items, own);
      });
      const lines = items.map((line) => receiptLine(company, line));
      const facts = { ...head, lines, ...partnerFor(company, side, sent), madeBy: own?.madeBy ?? null };
      return receiptFrom(company, facts, own);
    },
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
    afterChange: (company, before, after) => moveStock(company, side, before, after),
  });
}

type Kept = "id" | "uuid" | "company" | "createdAtMs" | "updatedAtMs";

/** All facts of a receipt; those that it always has are kept or new. */
export function receiptFrom(
  company: Company,
  facts: Omit<Receipt, Kept>,
  own: Receipt | null,
): Omit<Receipt, "id"> {
  const { uuid = company.random.uuid(), company: snapshot = company.snapshot } = own ?? {};
  return { uuid, company: snapshot, ...facts, ...stampsOf(company, own) };
}

/** There is enough of every item, what the receipt itself has taken included. */
export function expectStock(
  { tables, stock }: Company,
  problems: Problems,
  warehouseId: number,
  lines: readonly Pick<LineInput, "priceListItemId" | "quantity">[],
  own: Receipt | null,
): void {
  const before = own?.warehouseId === warehouseId ? own.lines : [];
  const sumOf = (all: typeof lines, itemId: number) =>
    all.reduce((sum, one) => (one.priceListItemId === itemId ? sum + decimal(one.quantity) : sum), 0n);
  const last = new Map(lines.map(({ priceListItemId }, at) => [priceListItemId, at]));
  for (const [itemId, at] of last) {
    const item = tables.price_list_items.get(itemId);
    const available = stock.level(itemId, warehouseId) + sumOf(before, itemId);
    const wanted = sumOf(lines, itemId);
    const values = { item: item?.name ?? "", available: toNumber(available), wanted: toNumber(wanted) };
    const isThere = !item || item.enableNegativeStock || available >= wanted;
    problems.expect(isThere, `items.${at}.quantity`, "stock", values);
  }
}

/** The partner that is named, else the one that the sent facts describe, else none. */
function partnerFor(company: Company, side: Side, sent: Sent): Pick<Receipt, "partnerId" | "partner"> {
  const { partner, contacts, resolve, snapshot } = sides[side];
  const { [`${partner}Id` as const]: partnerId, [partner]: draft } = sent;
  const named = company.tables[contacts].get(partnerId ?? 0);
  const found = named ?? (draft ? resolve(company, draft) : undefined);
  if (!found) return { partnerId: null, partner: null };
  const copy = partners.overlaid(snapshot(found as Client), named ? (draft ?? null) : null);
  return { partnerId: found.id, partner: copy };
}

/** A line as it is kept, with the item's name, code and unit of now. */
export function receiptLine({ tables, settings }: Company, line: LineInput): ReceiptLine {
  const {
    name = "",
    warehouseCode = null,
    unitId = 1,
  } = tables.price_list_items.get(line.priceListItemId) ?? {};
  return { id: settings.nextPartId++, ...line, itemName: name, itemCode: warehouseCode, unitId };
}

/** The number that the warehouse gives next. */
export function nextReceiptNumber({ settings }: Company, side: Side, warehouse: Warehouse): string {
  const { [`${side}NumericalSeriesPattern` as const]: pattern } = warehouse;
  return formatNumber(pattern, settings.today, warehouse[`${side}NumericalSeriesNextNumber`]);
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
  for (const [itemId, level] of levels)
    if (stock.total(itemId) !== level && tables.price_list_items.has(itemId))
      emit(company, "price_list_items", "stock-updated", itemId);
  const warehouse = tables.warehouses.get(after?.warehouseId ?? 0);
  // A receipt with the warehouse's next number makes the warehouse count on.
  if (before || !warehouse || nextReceiptNumber(company, side, warehouse) !== after?.number) return;
  const field = `${side}NumericalSeriesNextNumber` as const;
  tables.warehouses.replace({ ...warehouse, [field]: warehouse[field] + 1 });
}

/** The partner's id is null once the partner is deleted. */
function receiptView(company: Company, side: Side, receipt: Receipt, language: Language): JsonObject {
  const { partner: name, contacts } = sides[side];
  const { partner, partnerId, lines } = receipt;
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
    hasVat: lines.some((line) => line.vatRate > 0),
    total: centsToNumber(net),
    totalWithVat: centsToNumber(gross),
    items: lines.map((line) => ({
      ...pick(line, ["id", "priceListItemId", "quantity", "unitPrice", "vatRate"]),
      priceListItemName: line.itemName,
      priceListItemWarehouseCode: line.itemCode,
      unitName: lookup("units", line.unitId, language)?.["name"] ?? null,
      unitPriceWithVat: priceWithVat(line.unitPrice, line.vatRate),
    })),
    [`${name}Id`]: tables[contacts].has(partnerId ?? 0) ? partnerId : null,
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
