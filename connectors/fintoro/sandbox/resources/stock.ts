import { z } from "zod";
import { centsToNumber, decimal, divide, toNumber } from "../base/decimal-money.ts";
import { each, pick } from "../base/values.ts";
import { euro, lookup, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import { emit, publicOrigin, type Company, type BookRow } from "../model/company.ts";
import { refuse } from "../rules/rules.ts";
import { collection, isIn, kept, tenPerPage } from "./collection.ts";
import { totalsOf } from "./balance.ts";
import { formatNumber } from "./documents.ts";
import * as partners from "./partners.ts";

const [id, text, amount] = [z.int(), z.string(), z.number()];

export const warehouses = collection("warehouses", {
  shape: z.object({
    name: text,
    code: text,
    inboundNumericalSeriesPattern: text,
    outboundNumericalSeriesPattern: text,
    inboundNumericalSeriesNextNumber: id,
    outboundNumericalSeriesNextNumber: id,
  }),
  unique: ["code"],
  beforeRemove: ({ tables }, warehouse) => {
    const receiptTables = [tables.warehouse_inbound_receipts, tables.warehouse_outbound_receipts];
    if (receiptTables.some((table) => table.findBy("warehouseId", warehouse.id).length > 0))
      refuse("warehouse");
  },
});

/** The price list. A list may leave the stock by warehouse to the record. */
export const priceList = collection("price_list_items", {
  shape: z.object({
    name: text,
    ...each("description ean warehouseCode", text.nullish()),
    unitPrice: amount,
    unitId: id,
    vatRate: amount,
    useWarehouse: z.boolean().default(false),
    enableNegativeStock: z.boolean().default(false),
    ...each("maxStock purchasePrice purchaseVatRate", amount.nullish()),
  }),
  unique: ["ean", "warehouseCode"],
  view: itemView,
  list: {
    filters: {
      name: ({ name, warehouseCode, ean }, wanted) => isIn(wanted, name, warehouseCode, ean),
      onlyWarehouseItems: ({ useWarehouse }, wanted) => useWarehouse || wanted !== "true",
    },
    usualOrder: ["name", "asc"],
    pageSize: [50, 200],
    preview: (company, item, language) => {
      const { stocks, ...preview } = itemView(company, item, language);
      return company.stocksInLists ? { ...preview, stocks } : preview;
    },
  },
});

/** How much there is of an item in all warehouses, millionths. */
function stockOf({ stock }: Company, itemId: number): bigint {
  return [...(stock.get(itemId)?.values() ?? [])].reduce((sum, level) => sum + level, 0n);
}

/** Price with VAT, as precise as the price itself. */
function priceWithVat(price: number, rate: number): number {
  return toNumber(divide(decimal(price) * (decimal(100) + decimal(rate)), decimal(100)));
}

function itemView(company: Company, item: BookRow, language: ServiceLanguage) {
  const { purchasePrice: price, purchaseVatRate: rate } = item;
  const levels = [...(company.stock.get(item.id) ?? [])].toSorted(([a], [b]) => a - b);
  return {
    ...kept(item),
    unit: lookup("units", item.unitId, language),
    unitPriceWithVat: priceWithVat(item.unitPrice, item.vatRate),
    stock: toNumber(stockOf(company, item.id)),
    purchasePriceWithVat: price !== null && rate !== null ? priceWithVat(price, rate) : null,
    stocks: levels.flatMap(([warehouseId, quantity]) => {
      const warehouse = company.tables.warehouses.get(warehouseId);
      const { name: warehouseName, code: warehouseCode } = warehouse ?? {};
      return warehouse
        ? [{ warehouseId, warehouseName, warehouseCode, stockQuantity: toNumber(quantity) }]
        : [];
    }),
  };
}

export type Side = "inbound" | "outbound";

const receiptShape = z.object({
  number: text,
  warehouseId: id,
  languageId: id,
  issueDate: text,
  note: text.nullable().default(null),
  items: z
    .array(z.object({ priceListItemId: id, quantity: amount, unitPrice: amount, vatRate: amount }))
    .min(1),
  ...each("supplierId clientId", id.nullish()),
  ...each("supplier client", z.looseObject({}).nullish()),
});

/** Receipts of each side: from suppliers, and to clients. Each change of one moves the stock. */
export const receipts = { inbound: receiptsOf("inbound"), outbound: receiptsOf("outbound") };

function receiptsOf(side: Side) {
  const [name, field, contacts] =
    side === "inbound"
      ? (["supplier", "supplierId", partners.suppliers] as const)
      : (["client", "clientId", partners.clients] as const);
  return collection(`warehouse_${side}_receipts`, {
    shape: receiptShape,
    unique: ["number"],
    facts: ({ company, sent, own }) => {
      const { tables, random } = company;
      const { [field]: partnerId, [name]: draft } = sent;
      const known = tables[contacts.table].get(partnerId);
      const partner = known ?? (draft ? contacts.create(company, draft) : null);
      return {
        ...pick(sent, ["number", "warehouseId", "languageId", "issueDate", "note"]),
        uuid: own?.uuid ?? random.uuid(),
        company: own?.company ?? company.snapshot,
        [field]: partner?.id ?? null,
        partner: partner && partners.snapshotOf(partner),
        // A line keeps the item's name, code and unit of now.
        items: sent.items.map((line) => {
          const item = tables.price_list_items.get(line.priceListItemId);
          const { name: itemName = "", warehouseCode: itemCode = null, unitId = 1 } = item ?? {};
          return { id: company.nextPartId(), ...line, itemName, itemCode, unitId };
        }),
      };
    },
    /** The partner's id is null once the partner is deleted. */
    view: (company, receipt, language) => {
      const { tables, index } = company;
      const warehouse = tables.warehouses.get(receipt.warehouseId);
      const kind = `warehouse-${side}-receipt`;
      const { net, gross, hasVat } = totalsOf(receipt);
      return {
        ...pick(receipt, ["id", "uuid", "number", "issueDate", "note"]),
        webDokladUrl: `${publicOrigin}/web-doklad/${index + 1}/${kind}/${receipt.uuid}`,
        pdfDownloadUrl: `${publicOrigin}/api/public/v1/${kind}s/${receipt.id}/pdf`,
        company: receipt.company,
        warehouse: warehouse && kept(warehouse),
        currency: lookup("currencies", euro, language),
        language: lookup("languages", receipt.languageId, language),
        hasVat,
        total: centsToNumber(net),
        totalWithVat: centsToNumber(gross),
        items: receipt.items.map((line) => ({
          ...pick(line, ["id", "priceListItemId", "quantity", "unitPrice", "vatRate"]),
          priceListItemName: line.itemName,
          priceListItemWarehouseCode: line.itemCode,
          unitName: lookup("units", line.unitId, language)?.["name"] ?? null,
          unitPriceWithVat: priceWithVat(line.unitPrice, line.vatRate),
        })),
        [field]: tables[contacts.table].get(receipt[field])?.id ?? null,
        [name]: receipt.partner && partners.snapshotView(receipt.partner, language),
      };
    },
    list: { usualOrder: ["created_at", "desc"], pageSize: tenPerPage },
    afterChange: (company, before, after) => moveStock(company, side, before, after),
  });
}

export function nextReceiptNumber({ today }: Company, side: Side, warehouse: BookRow): string {
  const { [`${side}NumericalSeriesPattern` as const]: pattern } = warehouse;
  return formatNumber(pattern, today, warehouse[`${side}NumericalSeriesNextNumber`]);
}

/** Moves the stock from `before` to `after`, with an event for every item that moved. */
function moveStock(company: Company, side: Side, before: BookRow | null, after: BookRow | null): void {
  const { stock, tables } = company;
  const moved = [...(after?.items ?? []), ...(before?.items ?? [])].map((line) => line.priceListItemId ?? 0);
  const levels = new Map(moved.map((item) => [item, stockOf(company, item)]));
  const move = (receipt: BookRow | null, sign: bigint) => {
    for (const { priceListItemId, quantity } of receipt?.items ?? []) {
      const places = stock.get(priceListItemId ?? 0) ?? new Map<number, bigint>();
      const warehouseId = receipt?.warehouseId ?? 0;
      places.set(warehouseId, (places.get(warehouseId) ?? 0n) + sign * decimal(quantity));
      stock.set(priceListItemId ?? 0, places);
    }
  };
  const sign = side === "inbound" ? 1n : -1n;
  move(after, sign);
  move(before, -sign);
  for (const [itemId, level] of levels)
    if (stockOf(company, itemId) !== level && tables.price_list_items.get(itemId))
      emit(company, "price_list_items", "stock-updated", itemId);
  const warehouse = tables.warehouses.get(after?.warehouseId);
  // A receipt with the warehouse's next number makes the warehouse count on.
  if (before || !warehouse || nextReceiptNumber(company, side, warehouse) !== after?.number) return;
  const field = `${side}NumericalSeriesNextNumber` as const;
  tables.warehouses.replace({ ...warehouse, [field]: warehouse[field] + 1 });
}
