import type { Document, Item } from "../../model/company-records.ts";
import type { LineInput, Receipt } from "../../model/warehouse-records.ts";
import { check } from "../../rules/problems.ts";
import { ownerKey, type Company } from "../company-state.ts";
import {
  addReceipt,
  changeReceipt,
  deleteReceipt,
  expectStock,
  nextReceiptNumber,
  receiptLine,
  receiptTable,
  type Side,
} from "./receipts.ts";

/** What a document's lines move, by warehouse. */
function sharesOf(items: readonly Item[]): Map<number, LineInput[]> {
  const shares = new Map<number, LineInput[]>();
  for (const { priceListItemId, vatRate, allocations, ...item } of items) {
    const unitPrice = Math.abs(item.unitPrice);
    for (const { warehouseId, quantity } of allocations) {
      const line = { priceListItemId: priceListItemId ?? 0, quantity, unitPrice, vatRate };
      shares.set(warehouseId, [...(shares.get(warehouseId) ?? []), line]);
    }
  }
  return shares;
}

function sideOf({ kind }: Document): Side {
  return kind === "invoice" ? "outbound" : "inbound";
}

/** The receipts that a document's allocations made. */
function madeBy(company: Company, document: Document): readonly Receipt[] {
  return receiptTable(company, sideOf(document)).findBy("document", ownerKey(document.kind, document.id));
}

/** Refuses an invoice that takes more than there is, what it has taken already included. */
export function expectAllocated(
  company: Company,
  kind: Document["kind"],
  items: readonly Item[],
  own: Document | null,
): void {
  if (kind !== "invoice") return;
  const earlier = own ? madeBy(company, own) : [];
  check((problems) => {
    for (const [warehouseId, lines] of sharesOf(items)) {
      const before = earlier.find((receipt) => receipt.warehouseId === warehouseId) ?? null;
      expectStock(company, problems, { warehouseId, lines, own: before });
    }
  });
}

/** Brings the receipts of a document in line with its allocations: one receipt for each warehouse. */
export function syncAllocations(company: Company, document: Document): void {
  const side = sideOf(document);
  const shares = sharesOf(document.items);
  const earlier = madeBy(company, document);
  for (const receipt of earlier) {
    if (!shares.has(receipt.warehouseId)) deleteReceipt(company, side, receipt);
  }
  const { kind, id, clientId, client, languageId, issueDate } = document;
  const partner =
    kind === "invoice" ? { partnerId: clientId, partner: client } : { partnerId: null, partner: null };
  for (const [warehouseId, moved] of shares) {
    const lines = moved.map((line) => receiptLine(company, line));
    const facts = { warehouseId, ...partner, languageId, issueDate, note: null, lines };
    const before = earlier.find((receipt) => receipt.warehouseId === warehouseId);
    if (before) changeReceipt(company, side, before, facts);
    else {
      const warehouse = company.tables.warehouses.get(warehouseId);
      const number = warehouse ? nextReceiptNumber(company, side, warehouse) : document.number;
      addReceipt(company, side, { ...facts, number }, { kind, id });
    }
  }
}

/** Removes the receipts of a document that is removed. */
export function dropAllocations(company: Company, document: Document): void {
  for (const receipt of madeBy(company, document)) deleteReceipt(company, sideOf(document), receipt);
}
