import type { Company } from "../model/company-state.ts";
import { ownerKey } from "../model/company-state.ts";
import type { Document, Item, LineInput, Receipt } from "../model/records.ts";
import {
  expectStock,
  nextReceiptNumber,
  receiptFrom,
  receiptLine,
  receipts,
} from "../collections/receipts.ts";
import { check } from "../rules/problems.ts";

/** What a document's lines move, by warehouse. */
function sharesOf(items: readonly Item[]): Map<number, LineInput[]> {
  const shares = new Map<number, LineInput[]>();
  for (const { priceListItemId, vatRate, allocations, unitPrice } of items) {
    for (const { warehouseId, quantity } of allocations) {
      const line = {
        priceListItemId: priceListItemId ?? 0,
        quantity,
        unitPrice: Math.abs(unitPrice),
        vatRate,
      };
      shares.set(warehouseId, [...(shares.get(warehouseId) ?? []), line]);
    }
  }
  return shares;
}

const sideOf = ({ kind }: Pick<Document, "kind">) => (kind === "invoice" ? "outbound" : "inbound");

/** The receipts that a document's allocations made. */
function madeBy({ tables }: Company, { kind, id }: Document): Receipt[] {
  return tables[receipts[sideOf({ kind })].table].findBy("document", ownerKey(kind, id));
}

/** Refuses an invoice that takes more than there is, what it has taken already included. */
export function expectAllocated(company: Company, items: readonly Item[], own: Document | null): void {
  const earlier = own ? madeBy(company, own) : [];
  check((problems) => {
    for (const [warehouseId, lines] of sharesOf(items)) {
      const before = earlier.find((receipt) => receipt.warehouseId === warehouseId) ?? null;
      expectStock(company, problems, warehouseId, lines, before);
    }
  });
}

/** Brings a document's receipts in line with its allocations: one for each warehouse, none once it is removed. */
export function syncAllocations(company: Company, document: Document, isRemoved: boolean): void {
  const side = sideOf(document);
  const shares = sharesOf(isRemoved ? [] : document.items);
  const earlier = madeBy(company, document);
  for (const receipt of earlier) if (!shares.has(receipt.warehouseId)) receipts[side].drop(company, receipt);
  const { kind, id, clientId, client, languageId, issueDate } = document;
  const partner =
    kind === "invoice" ? { partnerId: clientId, partner: client } : { partnerId: null, partner: null };
  for (const [warehouseId, moved] of shares) {
    const before = earlier.find((receipt) => receipt.warehouseId === warehouseId) ?? null;
    const lines = moved.map((line) => receiptLine(company, line));
    const warehouse = company.tables.warehouses.get(warehouseId);
    const newNumber = warehouse ? nextReceiptNumber(company, side, warehouse) : document.number;
    const number = before?.number ?? newNumber;
    const facts = { number, warehouseId, ...partner, languageId, issueDate, note: null, lines };
    const receipt = receiptFrom(company, { ...facts, madeBy: { kind, id } }, before);
    if (before) receipts[side].change(company, before, receipt);
    else receipts[side].add(company, receipt);
  }
}
