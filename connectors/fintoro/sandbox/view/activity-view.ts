import { amount } from "../base/decimal-money.ts";
import { offsetStamp } from "../base/calendar.ts";
import { documentsOf, type Company } from "../domain/company-state.ts";
import { totalsOf } from "../domain/documents/document-totals.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { ActivityLog, ActivityMetadata, DocumentKind } from "../model/company-records.ts";
import type { JsonObject } from "../base/values.ts";

const labels: Readonly<Record<DocumentKind, string>> = {
  invoice: "Invoice",
  "credit-note": "Credit note",
  proforma: "Proforma",
  order: "Order",
  quotation: "Quotation",
};

export function logView(company: Company, log: ActivityLog, language: Language): JsonObject {
  const { target } = log;
  return {
    id: log.id,
    type: log.type,
    metadata: metadataView(company, log, language),
    attachments: log.attachments.map(({ id, name, mimeType }) => ({
      id,
      name,
      mimeType,
      url: `${company.settings.publicOrigin}/media/contact-activity-attachments/${id}`,
    })),
    businessCaseId: target.kind === "businessCase" ? target.id : null,
    clientId: target.kind === "client" ? target.id : null,
    supplierId: target.kind === "supplier" ? target.id : null,
    createdAt: offsetStamp(log.createdAtMs),
    updatedAt: offsetStamp(log.updatedAtMs),
  };
}

/** Only the fields that belong to the type. */
function metadataView(company: Company, { type, metadata }: ActivityLog, language: Language): JsonObject {
  const { content = null, email = null, personName = null, phoneNumber = null } = metadata;
  if (type === "note") return { content };
  if (type === "email") return { content, email };
  if (type === "phone_call") return { content, personName, phoneNumber };
  const { numberSnapshot, priceSnapshot, paidAmount, currencySnapshotId } = metadata;
  return {
    ...(numberSnapshot !== undefined && { documentNumberSnapshot: numberSnapshot }),
    ...(priceSnapshot !== undefined && { documentPriceSnapshot: priceSnapshot }),
    ...(currencySnapshotId !== undefined && {
      documentCurrencySnapshot: lookup("currencies", currencySnapshotId, language),
    }),
    ...(paidAmount !== undefined && { paidAmount }),
    relatedDocument: relatedView(company, metadata, language),
  };
}

/** The document as it is now; null once it is gone. */
function relatedView(company: Company, metadata: ActivityMetadata, language: Language): JsonObject | null {
  const { documentKind: kind, documentId: id } = metadata;
  const document = kind && id !== undefined ? documentsOf(company, kind).get(id) : undefined;
  if (!document || !kind) return null;
  return {
    documentType: kind,
    documentId: document.id,
    name: `${labels[kind]} ${document.number}`,
    number: document.number,
    issueDate: document.issueDate,
    totalWithVat: amount(totalsOf(document).gross),
    currency: lookup("currencies", document.currencyId, language),
  };
}
