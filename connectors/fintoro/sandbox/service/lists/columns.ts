import { dayOf } from "../../base/calendar.ts";
import { decimal, divide } from "../../base/decimal-money.ts";
import { documentsOf, type Company } from "../../domain/company-state.ts";
import { totalsOf } from "../../domain/documents/document-totals.ts";
import type { Document, DocumentKind } from "../../model/company-records.ts";

/** The values by which documents are filtered and sorted most often. */
export interface Columns {
  readonly number: (id: number) => string;
  readonly issueDay: (id: number) => number;
  readonly dueDate: (id: number) => string;
  readonly clientId: (id: number) => number;
}

export function columnsOf(company: Company, kind: DocumentKind): Columns {
  const table = documentsOf(company, kind);
  const whole = (id: number) => table.get(id) as Document;
  return {
    number: (id) => whole(id).number,
    issueDay: (id) => dayOf(whole(id).issueDate),
    dueDate: (id) => whole(id).dueDate ?? "",
    clientId: (id) => whole(id).clientId,
  };
}

/** The value that a list sorts a document by. */
export function sortKeyOf(
  company: Company,
  kind: DocumentKind,
  sortBy: string,
): (id: number) => string | number {
  const columns = columnsOf(company, kind);
  const table = documentsOf(company, kind);
  const whole = (read: (document: Document) => string | number) => (id: number) =>
    read(table.get(id) as Document);
  if (sortBy === "number") return columns.number;
  if (sortBy === "issueDate") return columns.issueDay;
  if (sortBy === "dueDate") return columns.dueDate;
  if (sortBy === "deliveryDate") return whole((document) => document.deliveryDate ?? "");
  if (sortBy === "validityDate") return whole((document) => document.validityDate ?? "");
  return whole((document) => sortedTotal(document, sortBy));
}

function sortedTotal(document: Document, sortBy: string): number {
  const { net, gross } = totalsOf(document);
  if (sortBy === "totalWithVatEur") return Number(inEuro(document, gross));
  return Number(sortBy === "total" ? net : gross);
}

/** Invoices filter by their total in euro with VAT, quotations by it with VAT, the others without. */
export function filteredTotal(kind: DocumentKind, document: Document): number {
  const { net, gross } = totalsOf(document);
  if (kind === "invoice") return Number(inEuro(document, gross)) / 100;
  return Number(kind === "quotation" ? gross : net) / 100;
}

function inEuro(document: Document, cents: bigint): bigint {
  return divide(cents * 1_000_000n, decimal(document.currencyRate));
}
