import { documentTable } from "../../model/catalogue.ts";
import type { DocumentKind, Sources } from "../../model/company-records.ts";
import { documentsOf, type Company } from "../company-state.ts";

const sourceField: Readonly<Partial<Record<DocumentKind, keyof Sources>>> = {
  proforma: "proformaId",
  order: "orderId",
  quotation: "quotationId",
};

/** The live document of `kind` that was made from this source, if any. */
export function successorOf(
  company: Company,
  source: DocumentKind,
  sourceId: number,
  kind: DocumentKind,
): number | null {
  const field = sourceField[source];
  if (!field) return null;
  const table = documentsOf(company, kind);
  for (const document of table.writtenValues()) if (document.sources[field] === sourceId) return document.id;
  const index = sourceId - company.plan.firstIds[documentTable[source]];
  const made = company.books.links.madeFrom(kind, source, index);
  if (made === null) return null;
  const id = company.plan.firstIds[documentTable[kind]] + made;
  return table.has(id) && !table.written(id) ? id : null;
}
