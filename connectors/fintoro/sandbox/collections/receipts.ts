import { centsToNumber, decimal, productCents, withVatCents } from "../base/decimal-money.ts";
import { formatNumber } from "../base/identifiers.ts";
import { pick, type JsonObject } from "../base/values.ts";
import type { Language } from "../lookups/languages.ts";
import { euro, lookup } from "../lookups/lookup-lists.ts";
import { emit, type Company } from "../model/company-state.ts";
import { receiptShape, type Client, type Receipt, type Warehouse } from "../model/records.ts";
import { collection, stampsOf } from "./collection.ts";
import * as partners from "./partners.ts";
import { tenPerPage } from "./record-list.ts";
import { priceWithVat } from "./stock.ts";

/** Goods that come in, or goods that go out. */
export type Side = "inbound" | "outbound";

/** How the two sides differ. */
const sides = {
  inbound: {
    table: "warehouse_inbound_receipts",
    sign: 1n,
    partner: "supplier",
    contacts: partners.suppliers,
    snapshot: partners.supplierSnapshot,
  },
  outbound: {
    table: "warehouse_outbound_receipts",
    sign: -1n,
    partner: "client",
    contacts: partners.clients,
    snapshot: partners.clientSnapshot,
  },
} as const;

/** Receipts of each side. Each change of one moves the stock. */
export const receipts = { inbound: receiptsOf("inbound"), outbound: receiptsOf("outbound") };

function receiptsOf(side: Side) {
  const { table, partner: name, contacts, snapshot } = sides[side];
  return collection(table, {
    shape: receiptShape,
    unique: ["number"],
    facts: ({ company, sent, own }) => {
      const { tables, settings, random } = company;
      const { [`${name}Id` as const]: partnerId, [name]: draft } = sent;
      const known = tables[contacts.table].get(partnerId ?? 0);
      const partner = known ?? (draft ? contacts.create(company, draft) : null);
      return {
        ...pick(sent, ["number", "warehouseId", "languageId", "issueDate", "note"]),
        uuid: own?.uuid ?? random.uuid(),
        company: own?.company ?? company.snapshot,
        partnerId: partner?.id ?? null,
        partner: partner && snapshot(partner as Client),
        // A line keeps the item's name, code and unit of now.
        lines: sent.items.map((line) => {
          const item = tables.price_list_items.get(line.priceListItemId);
          const { name: itemName = "", warehouseCode: itemCode = null, unitId = 1 } = item ?? {};
          return { id: settings.nextPartId++, ...line, itemName, itemCode, unitId };
        }),
        ...stampsOf(company, own),
      };
    },
    view: (company, receipt, language) => receiptView(company, side, receipt, language),
    list: {
      filters: { [`${name}Id`]: ({ partnerId }: Receipt, wanted) => partnerId === Number(wanted) },
      usualOrder: ["created_at", "desc"],
      pageSize: tenPerPage,
    },
    afterChange: (company, before, after) => moveStock(company, side, before, after),
  });
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
  const { partner, partnerId, lines, uuid, id } = receipt;
  const { settings, tables, index } = company;
  const { net, gross } = receiptTotals(receipt);
  const kind = `warehouse-${side}-receipt`;
  return {
    ...pick(receipt, ["id", "uuid", "number", "issueDate", "note"]),
    webDokladUrl: `${settings.publicOrigin}/web-doklad/${index + 1}/${kind}/${uuid}`,
    pdfDownloadUrl: `${settings.publicOrigin}/api/public/v1/${kind}s/${id}/pdf`,
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
    [`${name}Id`]: tables[contacts.table].has(partnerId ?? 0) ? partnerId : null,
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
