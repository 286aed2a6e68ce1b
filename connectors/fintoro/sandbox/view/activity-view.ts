import { centsToNumber } from "../base/decimal-money.ts";
import type { JsonObject } from "../base/values.ts";
import { documentsOf, type Company } from "../domain/company-state.ts";
import { totalsOf } from "../domain/documents/totals.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import { activityTargets } from "../model/catalogue.ts";
import type { ActivityLog, ActivityMetadata } from "../model/company-records.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import { stampsView } from "./contact-view.ts";

/** A CRM event as its route and the list show it. */
export function logView(company: Company, log: ActivityLog, language: Language): JsonObject {
  const { id: logId, type, target } = log;
  const attachments = log.attachments.map(({ id, name, mimeType }) => {
    const url = `${company.settings.publicOrigin}/media/contact-activity-attachments/${id}`;
    return { id, name, mimeType, url };
  });
  return {
    id: logId,
    type,
    metadata: metadataView(company, log, language),
    attachments,
    ...Object.fromEntries(
      activityTargets.map(({ kind, field }) => [field, target.kind === kind ? target.id : null]),
    ),
    ...stampsView(log),
  };
}

/** Only the fields that belong to the type. */
function metadataView(company: Company, { type, metadata }: ActivityLog, language: Language): JsonObject {
  const { content = null, email = null, personName = null, phoneNumber = null } = metadata;
  if (type === "note") return { content };
  if (type === "email") return { content, email };
  if (type === "phone_call") return { content, personName, phoneNumber };
  const { numberSnapshot, priceSnapshot, paidAmount, currencySnapshotId: currencyId } = metadata;
  return {
    ...(numberSnapshot !== undefined && { documentNumberSnapshot: numberSnapshot }),
    ...(priceSnapshot !== undefined && { documentPriceSnapshot: priceSnapshot }),
    ...(currencyId !== undefined && { documentCurrencySnapshot: lookup("currencies", currencyId, language) }),
    ...(paidAmount !== undefined && { paidAmount }),
    relatedDocument: relatedView(company, metadata, language),
  };
}

/** The document as it is now; null once it is deleted. */
function relatedView(company: Company, metadata: ActivityMetadata, language: Language): JsonObject | null {
  const { documentKind: kind, documentId: id } = metadata;
  const document = kind && id !== undefined ? documentsOf(company, kind).get(id) : undefined;
  if (!document) return null;
  return {
    documentType: document.kind,
    documentId: document.id,
    name: `${texts[document.kind].label} ${document.number}`,
    number: document.number,
    issueDate: document.issueDate,
    totalWithVat: centsToNumber(totalsOf(document).gross),
    currency: lookup("currencies", document.currencyId, language),
  };
}
