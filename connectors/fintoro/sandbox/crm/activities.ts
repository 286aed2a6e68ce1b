import { z } from "zod";
import { centsToNumber } from "../base/decimal-money.ts";
import type { JsonObject } from "../base/values.ts";
import { totalsOf } from "../documents/balance.ts";
import type { Call } from "../http/router.ts";
import type { Answer } from "../http/service-answer.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import { activityTargets, targetFields } from "../model/catalogue.ts";
import { documentsOf, ownerKey, type Company } from "../model/company-state.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { ActivityLog, ActivityMetadata, Attachment, Upload } from "../model/records.ts";
import { onePage } from "../collections/record-list.ts";
import { collection, stampsOf, stampsView, type Write } from "../collections/collection.ts";
import { Invalid, refuse } from "../rules/problems.ts";
import { filled, nullable } from "../rules/request-shape.ts";

const metadataShape = z.object({
  ...nullable(["content", "email", "personName", "phoneNumber"], z.string()),
  documentType: z.enum(["invoice", "proforma", "order", "quotation", "credit-note"]).nullish(),
  documentId: z.int().nullish(),
});

const activityShape = z.object({
  ...nullable(targetFields, z.int()),
  type: z.enum(["note", "email", "phone_call", "document_linked"]),
  metadata: metadataShape,
  attachmentUploadTokens: z.array(z.string()).optional(),
  deletedAttachmentIds: z.array(z.int()).optional(),
});

/** CRM events of business cases, clients and suppliers. A change leaves type and target as they are. */
export const activities = collection("contact_activity_logs", {
  shape: activityShape,
  facts: activityFacts,
  view: activityView,
  list: listActivities,
  method: "PATCH",
});

/** What a CRM event belongs to: the record that one of the fields names. @throws Invalid */
function targetOf({ tables }: Company, sent: { readonly [field: string]: unknown }) {
  const given = activityTargets.find(({ field }) => (sent[field] ?? null) !== null);
  if (!given) refuse("businessCaseId", "required");
  const { kind, field, table } = given;
  const id = Number(sent[field]);
  return tables[table].has(id) ? { kind, id } : refuse(field);
}

/** Replaces the metadata as a whole, and adds or removes attachments. */
function activityFacts({ company, sent, own }: Write<ActivityLog, z.output<typeof activityShape>>) {
  const { attachmentUploadTokens: tokens = [], deletedAttachmentIds: removed = [] } = sent;
  const { type, target } = own ?? { type: sent.type, target: targetOf(company, sent) };
  const { documentType: documentKind, documentId, ...words } = filled(metadataShape, sent.metadata ?? {});
  const document = documentKind && documentsOf(company, documentKind).get(documentId ?? 0);
  if (type === "document_linked" && !document) refuse("metadata.documentId");
  const used = tokens.flatMap((token, i) =>
    company.uploads.has(token) ? [] : [{ field: `attachmentUploadTokens.${i}`, key: "invalid" as const }],
  );
  if (used.length > 0) throw new Invalid(used);
  const kept = own?.attachments.filter((attachment) => !removed.includes(attachment.id)) ?? [];
  const metadata = document ? { documentKind: document.kind, documentId: document.id } : words;
  return {
    type,
    target,
    metadata,
    attachments: [...kept, ...attach(company, tokens)],
    ...stampsOf(company, own),
  };
}

/** Keeps an uploaded file until a CRM event takes it; gives its token, which works once. */
export function keepUpload(company: Company, upload: Upload): string {
  const token = Buffer.from(`upload:${company.random.uuid()}`).toString("base64url");
  company.uploads.set(token, upload);
  return token;
}

function attach(company: Company, tokens: readonly string[]): Attachment[] {
  return tokens.flatMap((token) => {
    const upload = company.uploads.get(token);
    company.uploads.delete(token);
    return upload ? [{ id: company.settings.nextPartId++, ...upload }] : [];
  });
}

/** The CRM events of one business case, client or supplier, newest first. */
function listActivities(call: Call): Answer {
  const { company, language, query } = call;
  const { kind, id: owner } = targetOf(company, query);
  const all = company.tables.contact_activity_logs.findBy("target", ownerKey(kind, owner));
  const logs = all
    .filter(({ type }) => type === (query["type"] ?? type))
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || b.id - a.id);
  return onePage(call, "contact_activity_logs", logs, (log) => activityView(company, log, language));
}

function activityView(company: Company, log: ActivityLog, language: Language): JsonObject {
  const { id: logId, type, target } = log;
  const origin = company.settings.publicOrigin;
  return {
    id: logId,
    type,
    metadata: metadataView(company, log, language),
    attachments: log.attachments.map(({ id: own, name, mimeType }) => {
      return { id: own, name, mimeType, url: `${origin}/media/contact-activity-attachments/${own}` };
    }),
    ...Object.fromEntries(
      activityTargets.map(({ kind, field }) => [field, target.kind === kind ? target.id : null]),
    ),
    ...stampsView(log),
  };
}

/** Only the fields that belong to the type. */
function metadataView(company: Company, { type, metadata }: ActivityLog, language: Language): JsonObject {
  const { content = null, email: address = null, personName = null, phoneNumber = null } = metadata;
  if (type === "note") return { content };
  if (type === "email") return { content, email: address };
  if (type === "phone_call") return { content, personName, phoneNumber };
  const { numberSnapshot, priceSnapshot, paidAmount, currencySnapshotId: currencyId } = metadata;
  const snapshots = {
    documentNumberSnapshot: numberSnapshot,
    documentPriceSnapshot: priceSnapshot,
    documentCurrencySnapshot: currencyId && lookup("currencies", currencyId, language),
    paidAmount,
  };
  const known = Object.entries(snapshots).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(known), relatedDocument: relatedView(company, metadata, language) };
}

/** The document as it is now; null once it is deleted. */
function relatedView(company: Company, metadata: ActivityMetadata, language: Language): JsonObject | null {
  const { documentKind: documentType = "invoice", documentId = 0 } = metadata;
  const document = documentsOf(company, documentType).get(documentId);
  if (!document) return null;
  const { number, issueDate, currencyId } = document;
  return {
    documentType,
    documentId,
    name: `${texts[documentType].label} ${number}`,
    number,
    issueDate,
    totalWithVat: centsToNumber(totalsOf(document).gross),
    currency: lookup("currencies", currencyId, language),
  };
}
