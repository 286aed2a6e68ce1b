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
import { onePage, tenPerPage } from "../collections/record-list.ts";
import { collection, stampsOf, stampsView, type Write } from "../collections/collection.ts";
import { check, refuse } from "../rules/problems.ts";
import { email, filled, id, parse, query, text } from "../rules/request-shape.ts";

const types = ["note", "email", "phone_call", "document_linked"] as const;

const metadataShape = z.object({
  content: z.string().nullish(),
  email: email().nullish(),
  personName: text().nullish(),
  phoneNumber: text().nullish(),
  documentType: z.enum(["invoice", "proforma", "order", "quotation", "credit-note"]).nullish(),
  documentId: id().nullish(),
});

const targets = (type: z.ZodType<number | null | undefined>) =>
  ({ businessCaseId: type, clientId: type, supplierId: type }) as const;
const activityShape = z.object({
  ...targets(id().nullish()),
  type: z.enum(types),
  metadata: metadataShape,
  attachmentUploadTokens: z.array(z.string()).optional(),
  deletedAttachmentIds: z.array(id()).optional(),
});

/** CRM events of business cases, clients and suppliers. A change leaves type and target as they are. */
export const activities = collection("contact_activity_logs", {
  shape: activityShape,
  facts: activityFacts,
  view: activityView,
  list: listActivities,
  method: "PATCH",
});

/** What a CRM event belongs to: exactly one of the fields names a record. @throws Invalid */
function targetOf(
  { tables }: Company,
  sent: { readonly [K in (typeof targetFields)[number]]?: number | null },
) {
  const given = activityTargets.filter(({ field }) => (sent[field] ?? null) !== null);
  const [{ kind, field, table } = activityTargets[0], ...others] = given;
  const named = sent[field] ?? 0;
  if (given.length === 0 || others.length > 0)
    refuse(field, "exactly_one", { fields: targetFields.join(", ") });
  if (!tables[table].has(named)) refuse(field, "exists");
  return { kind, id: named };
}

/** Replaces the metadata as a whole, and adds or removes attachments. */
function activityFacts({ company, sent, own }: Write<ActivityLog, z.output<typeof activityShape>>) {
  const { attachmentUploadTokens: tokens = [], deletedAttachmentIds: removed = [] } = sent;
  const { type, target } = own ?? { type: sent.type, target: targetOf(company, sent) };
  const { documentType: documentKind, documentId, ...words } = filled(metadataShape, sent.metadata ?? {});
  const isLink = type === "document_linked";
  const document = documentKind && documentsOf(company, documentKind).get(documentId ?? 0);
  check((problems) => {
    problems.expect(isLink || words.content !== null, "metadata.content", "required");
    problems.expect(!isLink || Boolean(document), "metadata.documentId", documentId ? "exists" : "required");
    for (const [i, token] of tokens.entries())
      problems.expect(company.uploads.has(token), `attachmentUploadTokens.${i}`, "upload_token");
  });
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

const listQuery = z.object({ ...targets(query.int()), type: query.oneOf(types) });

/** The CRM events of one business case, client or supplier, newest first. */
function listActivities(call: Call): Answer {
  const { company, language } = call;
  const wanted = parse(listQuery, call.query);
  const { kind, id: owner } = targetOf(company, wanted);
  const all = company.tables.contact_activity_logs.findBy("target", ownerKey(kind, owner));
  const logs = all
    .filter(({ type }) => wanted.type === undefined || type === wanted.type)
    .toSorted((a, b) => b.createdAtMs - a.createdAtMs || b.id - a.id);
  const view = (log: ActivityLog) => activityView(company, log, language);
  return onePage(call, "contact_activity_logs", logs, tenPerPage, view);
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
