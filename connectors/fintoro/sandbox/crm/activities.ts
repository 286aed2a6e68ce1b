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
import { collection, stampsOf, stampsView } from "../collections/collection.ts";
import { check, refuse, type Problems } from "../rules/problems.ts";
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
type Metadata = z.output<typeof metadataShape>;

const common = { metadata: metadataShape, attachmentUploadTokens: z.array(z.string()).default([]) };
const targets = (type: z.ZodType<number | null | undefined>) =>
  ({ businessCaseId: type, clientId: type, supplierId: type }) as const;
const activityShape = z.object({ ...common, ...targets(id().nullish()), type: z.enum(types) });
const activityPatch = z.looseObject({ ...common, deletedAttachmentIds: z.array(id()).default([]) });

/** CRM events of business cases, clients and suppliers. */
export const activities = collection("contact_activity_logs", {
  method: "PATCH",
  factsFrom: (company, input, own) =>
    own ? changedActivity(company, input, own) : newActivity(company, input),
  view: activityView,
  list: listActivities,
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

function newActivity(company: Company, input: unknown): Omit<ActivityLog, "id"> {
  const sent = parse(activityShape, input);
  const { type, metadata, attachmentUploadTokens: tokens } = sent;
  const target = targetOf(company, sent);
  check((problems) => expectContent(company, problems, type, metadata, tokens));
  return {
    type,
    target,
    metadata: metadataOf(type, metadata),
    attachments: attach(company, tokens),
    ...stampsOf(company),
  };
}

/** Replaces the metadata as a whole, and adds or removes attachments; type and target stay. */
function changedActivity(company: Company, input: unknown, own: ActivityLog): ActivityLog {
  const sent = parse(activityPatch, input);
  const { metadata, attachmentUploadTokens: tokens, deletedAttachmentIds: removed } = sent;
  check((problems) => {
    for (const field of ["type", ...targetFields])
      problems.expect(sent[field] === undefined, field, "prohibited");
    expectContent(company, problems, own.type, metadata, tokens);
    const known = new Set(own.attachments.map((attachment) => attachment.id));
    for (const [i, one] of removed.entries()) problems.expectIn(known, `deletedAttachmentIds.${i}`, one);
  });
  const kept = own.attachments.filter((attachment) => !removed.includes(attachment.id));
  const attachments = [...kept, ...attach(company, tokens)];
  return { ...own, metadata: metadataOf(own.type, metadata), attachments, ...stampsOf(company, own) };
}

/** Which metadata each type needs, and which it may have besides; all others are refused. */
const metadataOfType: Readonly<Record<string, { needs: string[]; takes?: string[] }>> = {
  note: { needs: ["content"] },
  email: { needs: ["content", "email"] },
  phone_call: { needs: ["content", "personName"], takes: ["phoneNumber"] },
  document_linked: { needs: ["documentType", "documentId"] },
};

function expectContent(
  company: Company,
  problems: Problems,
  type: string,
  sent: Metadata,
  tokens: readonly string[],
): void {
  const { needs = [], takes = [] } = metadataOfType[type] ?? {};
  for (const [field, value] of Object.entries(filled(metadataShape, sent))) {
    if (needs.includes(field)) problems.expect(value !== null, `metadata.${field}`, "required");
    else problems.expect(value === null || takes.includes(field), `metadata.${field}`, "prohibited");
  }
  if (type === "document_linked" && sent.documentType)
    problems.expectIn(documentsOf(company, sent.documentType), "metadata.documentId", sent.documentId);
  const allowed = !type.startsWith("document") || tokens.length === 0;
  problems.expect(allowed, "attachmentUploadTokens", "no_attachments");
  for (const [i, token] of tokens.entries()) {
    const unused = company.uploads.has(token) && tokens.indexOf(token) === i;
    problems.expect(unused, `attachmentUploadTokens.${i}`, "upload_token");
  }
}

function metadataOf(type: string, sent: Metadata): ActivityMetadata {
  const { documentType, documentId, ...words } = filled(metadataShape, sent);
  return type === "document_linked"
    ? { documentKind: documentType ?? "invoice", documentId: documentId ?? 0 }
    : words;
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
