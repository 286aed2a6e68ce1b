import { amount, decimal, divide, productCents, toNumber, withVatCents } from "../base/decimal-money.ts";
import type { Company } from "../domain/company-state.ts";
import { euro } from "../lookups/currencies.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { ClientSnapshot, PriceListItem, Receipt, ReceiptLine } from "../model/company-records.ts";
import { warehouseView } from "./settings-view.ts";
import { clientSnapshotView, partySnapshotView } from "./contact-view.ts";

/** Price with VAT, as precise as the price itself. */
function priceWithVat(price: number, rate: number): number {
  return toNumber(divide(decimal(price) * (decimal(100) + decimal(rate)), decimal(100)));
}

/** The item without its stock by warehouse, as a list may give it. */
export function itemPreview(company: Company, item: PriceListItem, language: Language) {
  const { purchasePrice, purchaseVatRate } = item;
  const known = purchasePrice !== null && purchaseVatRate !== null;
  return {
    id: item.id,
    name: item.name,
    description: item.description,
    unitId: item.unitId,
    unit: lookup("units", item.unitId, language),
    unitPrice: item.unitPrice,
    vatRate: item.vatRate,
    unitPriceWithVat: priceWithVat(item.unitPrice, item.vatRate),
    stock: toNumber(company.stock.total(item.id)),
    ean: item.ean,
    useWarehouse: item.useWarehouse,
    warehouseCode: item.warehouseCode,
    enableNegativeStock: item.enableNegativeStock,
    maxStock: item.maxStock,
    purchasePrice,
    purchaseVatRate,
    purchasePriceWithVat: known ? priceWithVat(purchasePrice, purchaseVatRate) : null,
  };
}

export function itemView(company: Company, item: PriceListItem, language: Language) {
  const { stock, ...rest } = itemPreview(company, item, language);
  return { ...rest, stock, stocks: stocksOf(company, item.id) };
}

function stocksOf(company: Company, itemId: number) {
  const levels = [...company.stock.of(itemId)].toSorted(([a], [b]) => a - b);
  return levels.flatMap(([warehouseId, quantity]) => {
    const warehouse = company.tables.warehouses.get(warehouseId);
    if (!warehouse) return [];
    return [
      {
        warehouseId,
        warehouseName: warehouse.name,
        warehouseCode: warehouse.code,
        stockQuantity: toNumber(quantity),
      },
    ];
  });
}

export function inboundView(company: Company, receipt: Receipt, language: Language) {
  const { partner, partnerId } = receipt;
  return {
    ...receiptHead(company, receipt, "inbound"),
    supplierId: partnerId !== null && company.tables.suppliers.has(partnerId) ? partnerId : null,
    supplier: partner ? partySnapshotView(partner, language) : null,
    ...receiptBody(receipt, language),
  };
}

export function outboundView(company: Company, receipt: Receipt, language: Language) {
  const { partner, partnerId } = receipt;
  return {
    ...receiptHead(company, receipt, "outbound"),
    clientId: partnerId !== null && company.tables.clients.has(partnerId) ? partnerId : null,
    client: partner ? clientSnapshotView(partner as ClientSnapshot, language) : null,
    ...receiptBody(receipt, language),
  };
}

function receiptHead(company: Company, receipt: Receipt, side: "inbound" | "outbound") {
  const origin = company.settings.publicOrigin;
  const warehouse = company.tables.warehouses.get(receipt.warehouseId);
  return {
    id: receipt.id,
    uuid: receipt.uuid,
    number: receipt.number,
    webDokladUrl: `${origin}/web-doklad/${company.index + 1}/warehouse-${side}-receipt/${receipt.uuid}`,
    pdfDownloadUrl: `${origin}/api/public/v1/warehouse-${side}-receipts/${receipt.id}/pdf`,
    company: { ...receipt.company },
    warehouse: warehouse ? warehouseView(warehouse) : null,
  };
}

function receiptBody(receipt: Receipt, language: Language) {
  const sums = receipt.lines.map(lineCents);
  return {
    currency: lookup("currencies", euro, language),
    language: lookup("languages", receipt.languageId, language),
    issueDate: receipt.issueDate,
    note: receipt.note,
    hasVat: receipt.lines.some((line) => line.vatRate > 0),
    total: amount(sums.reduce((sum, { net }) => sum + net, 0n)),
    totalWithVat: amount(sums.reduce((sum, { gross }) => sum + gross, 0n)),
    items: receipt.lines.map((line) => lineView(line, language)),
  };
}

export function lineCents(line: ReceiptLine): { net: bigint; gross: bigint } {
  const net = productCents(decimal(line.unitPrice), decimal(line.quantity));
  return { net, gross: withVatCents(net, line.vatRate) };
}

function lineView(line: ReceiptLine, language: Language) {
  const unit = lookup("units", line.unitId, language);
  return {
    id: line.id,
    priceListItemId: line.priceListItemId,
    priceListItemName: line.itemName,
    priceListItemWarehouseCode: line.itemCode,
    unitName: unit ? String(unit["name"]) : null,
    quantity: line.quantity,
    unitPrice: line.unitPrice,
    unitPriceWithVat: priceWithVat(line.unitPrice, line.vatRate),
    vatRate: line.vatRate,
  };
}
