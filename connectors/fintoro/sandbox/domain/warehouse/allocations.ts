import type { Document, Item, Receipt } from "../../model/company-records.ts";
import { Problems } from "../../rules/refusals.ts";
import type { Company } from "../company-state.ts";
import {
  countOn,
  deleteReceipt,
  expectStock,
  nextReceiptNumber,
  receiptLine,
  receiptTable,
  settle,
  type Side,
} from "./receipts.ts";

/** What goes through one warehouse. */
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

function sideOf(document: Pick<Document, "kind">): Side {
  return document.kind === "invoice" ? "outbound" : "inbound";
}

/** The receipts that a document's allocations made. */
function madeBy(company: Company, document: Pick<Document, "kind" | "id">): Receipt[] {
  const written = [...receiptTable(company, sideOf(document)).writtenValues()];
  return written.filter(
    (receipt) => receipt.madeBy?.kind === document.kind && receipt.madeBy.id === document.id,
  );
}

/** An invoice may only take what there is, beside what it has taken already. */
export function expectAllocated(
  company: Company,
  kind: Document["kind"],
  items: readonly Item[],
  own: Document | null,
): void {
  if (kind !== "invoice") return;
  const earlier = own ? madeBy(company, own) : [];
  const problems = new Problems();
  for (const { warehouseId, lines } of sharesOf(items)) {
    const wanted = lines.map(({ item, quantity }) => ({
      priceListItemId: item.priceListItemId ?? 0,
      quantity,
    }));
    const before = earlier.find((receipt) => receipt.warehouseId === warehouseId) ?? null;
    expectStock(company, problems, warehouseId, wanted, before);
  }
  problems.settle();
}

/** One receipt for each warehouse: kept, changed, added or removed, as the document now says. */
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
    if (before) rewrite(company, side, before, document, share);
    else open(company, side, document, share);
  }
}

export function dropAllocations(company: Company, document: Document): void {
  for (const receipt of madeBy(company, document)) deleteReceipt(company, sideOf(document), receipt);
}

function contentOf(company: Company, document: Document, { warehouseId, lines }: Share) {
  return {
    warehouseId,
    partnerId: document.kind === "invoice" ? document.clientId : null,
    partner: document.kind === "invoice" ? document.client : null,
    languageId: document.languageId,
    issueDate: document.issueDate,
    note: null,
    lines: lines.map(({ item, quantity }) => {
      const unitPrice = Math.abs(item.unitPrice);
      return receiptLine(company, {
        priceListItemId: item.priceListItemId ?? 0,
        quantity,
        unitPrice,
        vatRate: item.vatRate,
      });
    }),
  };
}

function open(company: Company, side: Side, document: Document, share: Share): void {
  const warehouse = company.tables.warehouses.get(share.warehouseId);
  const now = company.clock.nowMs();
  const receipt = receiptTable(company, side).add((id) => ({
    id,
    uuid: company.random.uuid(),
    number: warehouse ? nextReceiptNumber(company, side, warehouse) : document.number,
    company: document.company,
    ...contentOf(company, document, share),
    createdAtMs: now,
    updatedAtMs: now,
    madeBy: { kind: document.kind, id: document.id },
  }));
  settle(company, side, null, receipt, "created");
  countOn(company, side, receipt);
}

function rewrite(company: Company, side: Side, before: Receipt, document: Document, share: Share): void {
  const after = { ...before, ...contentOf(company, document, share), updatedAtMs: company.clock.nowMs() };
  receiptTable(company, side).replace(after);
  settle(company, side, before, after, "updated");
}
