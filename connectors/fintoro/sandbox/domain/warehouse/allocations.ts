import type { Document, Item } from "../../model/company-records.ts";
import type { Receipt } from "../../model/warehouse-records.ts";
import { check } from "../../rules/refusals.ts";
import { documentKey, type Company } from "../company-state.ts";
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

/** What a document's lines move through one warehouse. */
interface Share {
  readonly warehouseId: number;
  readonly lines: { readonly item: Item; readonly quantity: number }[];
}

function sharesOf(items: readonly Item[]): Share[] {
  const shares = new Map<number, Share>();
  for (const item of items) {
    for (const { warehouseId, quantity } of item.allocations) {
      const share = shares.get(warehouseId) ?? { warehouseId, lines: [] };
      share.lines.push({ item, quantity });
      shares.set(warehouseId, share);
    }
  }
  return [...shares.values()];
}

function sideOf({ kind }: Document): Side {
  return kind === "invoice" ? "outbound" : "inbound";
}

/** The receipts that a document's allocations made. */
function madeBy(company: Company, document: Document): readonly Receipt[] {
  return receiptTable(company, sideOf(document)).findBy("document", documentKey(document.kind, document.id));
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
    for (const share of sharesOf(items)) {
      const { warehouseId } = share;
      const lines = share.lines.map(({ item: { priceListItemId }, quantity }) => ({
        priceListItemId: priceListItemId ?? 0,
        quantity,
      }));
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
    if (!shares.some(({ warehouseId }) => warehouseId === receipt.warehouseId))
      deleteReceipt(company, side, receipt);
  }
  for (const share of shares) {
    const before = earlier.find((receipt) => receipt.warehouseId === share.warehouseId);
    const facts = factsOf(company, document, share);
    if (before) changeReceipt(company, side, before, facts);
    else {
      const warehouse = company.tables.warehouses.get(share.warehouseId);
      const number = warehouse ? nextReceiptNumber(company, side, warehouse) : document.number;
      addReceipt(company, side, { ...facts, number }, { kind: document.kind, id: document.id });
    }
  }
}

/** Removes the receipts of a document that is removed. */
export function dropAllocations(company: Company, document: Document): void {
  for (const receipt of madeBy(company, document)) deleteReceipt(company, sideOf(document), receipt);
}

function factsOf(company: Company, document: Document, { warehouseId, lines }: Share) {
  const isSale = document.kind === "invoice";
  return {
    warehouseId,
    partnerId: isSale ? document.clientId : null,
    partner: isSale ? document.client : null,
    languageId: document.languageId,
    issueDate: document.issueDate,
    note: null,
    lines: lines.map(({ item: { priceListItemId, unitPrice, vatRate }, quantity }) =>
      receiptLine(company, {
        priceListItemId: priceListItemId ?? 0,
        quantity,
        unitPrice: Math.abs(unitPrice),
        vatRate,
      }),
    ),
  };
}
