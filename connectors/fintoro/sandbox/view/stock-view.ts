import {
  centsToNumber,
  decimal,
  divide,
  productCents,
  toNumber,
  withVatCents,
} from "../base/decimal-money.ts";
import { pick, type JsonObject } from "../base/values.ts";
import type { Company } from "../domain/company-state.ts";
import { sides, type Side } from "../domain/warehouse/receipts.ts";
import { euro } from "../lookups/currencies.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { ClientSnapshot } from "../model/contact-records.ts";
import type { PriceListItem, Receipt, ReceiptLine } from "../model/warehouse-records.ts";
import { clientSnapshotView, partySnapshotView } from "./contact-view.ts";

/** Price with VAT, as precise as the price itself. */
function priceWithVat(price: number, rate: number): number {
  return toNumber(divide(decimal(price) * (decimal(100) + decimal(rate)), decimal(100)));
}

/** A price-list item without its stock by warehouse, as a list may give it. */
export function itemPreview(company: Company, item: PriceListItem, language: Language) {
  const { purchasePrice: price, purchaseVatRate: rate } = item;
  return {
    ...item,
    unit: lookup("units", item.unitId, language),
    unitPriceWithVat: priceWithVat(item.unitPrice, item.vatRate),
    stock: toNumber(company.stock.total(item.id)),
    purchasePriceWithVat: price !== null && rate !== null ? priceWithVat(price, rate) : null,
  };
}

/** A price-list item with its stock in each warehouse that ever held it. */
export function itemView(company: Company, item: PriceListItem, language: Language) {
  const levels = [...company.stock.of(item.id)].toSorted(([a], [b]) => a - b);
  const stocks = levels.flatMap(([warehouseId, quantity]) => {
    const warehouse = company.tables.warehouses.get(warehouseId);
    if (!warehouse) return [];
    const { name: warehouseName, code: warehouseCode } = warehouse;
    return [{ warehouseId, warehouseName, warehouseCode, stockQuantity: toNumber(quantity) }];
  });
  return { ...itemPreview(company, item, language), stocks };
}

/** A view of the receipts of one side. The partner's id is null once the partner is deleted. */
export function receiptViewOf(side: Side) {
  const { partner: name, contacts } = sides[side];
  return (company: Company, receipt: Receipt, language: Language): JsonObject => {
    const { partner, partnerId } = receipt;
    const partnerView = side === "inbound" ? partySnapshotView : clientSnapshotView;
    return {
      ...receiptView(company, receipt, side, language),
      [`${name}Id`]: company.tables[contacts].has(partnerId ?? 0) ? partnerId : null,
      [name]: partner ? partnerView(partner as ClientSnapshot, language) : null,
    };
  };
}

function receiptView(company: Company, receipt: Receipt, side: Side, language: Language) {
  const origin = company.settings.publicOrigin;
  const warehouse = company.tables.warehouses.get(receipt.warehouseId);
  const sums = receipt.lines.map(lineCents);
  return {
    ...pick(receipt, ["id", "uuid", "number", "issueDate", "note"]),
    webDokladUrl: `${origin}/web-doklad/${company.index + 1}/warehouse-${side}-receipt/${receipt.uuid}`,
    pdfDownloadUrl: `${origin}/api/public/v1/warehouse-${side}-receipts/${receipt.id}/pdf`,
    company: { ...receipt.company },
    warehouse: warehouse ? { ...warehouse } : null,
    currency: lookup("currencies", euro, language),
    language: lookup("languages", receipt.languageId, language),
    hasVat: receipt.lines.some((line) => line.vatRate > 0),
    total: centsToNumber(sums.reduce((sum, { net }) => sum + net, 0n)),
    totalWithVat: centsToNumber(sums.reduce((sum, { gross }) => sum + gross, 0n)),
    items: receipt.lines.map((line) => lineView(line, language)),
  };
}

/** A line's amounts without and with VAT, cents. */
export function lineCents(line: ReceiptLine): { net: bigint; gross: bigint } {
  const net = productCents(decimal(line.unitPrice), decimal(line.quantity));
  return { net, gross: withVatCents(net, line.vatRate) };
}

function lineView(line: ReceiptLine, language: Language) {
  const unit = lookup("units", line.unitId, language);
  return {
    ...pick(line, ["id", "priceListItemId", "quantity", "unitPrice", "vatRate"]),
    priceListItemName: line.itemName,
    priceListItemWarehouseCode: line.itemCode,
    unitName: unit ? String(unit["name"]) : null,
    unitPriceWithVat: priceWithVat(line.unitPrice, line.vatRate),
  };
}
