import { z } from "zod";
import { activityTargets, targetFields } from "../../model/catalogue.ts";
import type {
  ActivityLog,
  ActivityMetadata,
  ActivityTarget,
  Attachment,
  Upload,
} from "../../model/company-records.ts";
import { check, type Problems } from "../../rules/problems.ts";
import { email, filled, id, parse, text } from "../../rules/request-shape.ts";
import { documentsOf, ownerKey, type Company } from "../company-state.ts";
import { recordWrites, stampsOf } from "../record-writes.ts";

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
const activityInput = z.object({
  ...common,
  businessCaseId: id().nullish(),
  clientId: id().nullish(),
  supplierId: id().nullish(),
  type: z.enum(["note", "email", "phone_call", "document_linked"]),
});
const activityPatch = z.looseObject({ ...common, deletedAttachmentIds: z.array(id()).default([]) });

/** Creating, changing and removing CRM events. */
export const activityWrites = recordWrites("contact_activity_logs", (company, input, own) =>
  own ? changedActivity(company, input, own) : newActivity(company, input),
);

function newActivity(company: Company, input: unknown): Omit<ActivityLog, "id"> {
  const sent = parse(activityInput, input);
  const { type, metadata, attachmentUploadTokens: tokens } = sent;
  const given = activityTargets.filter(({ field }) => (sent[field] ?? null) !== null);
  const [{ kind, field } = activityTargets[0]] = given;
  check((problems) => {
    problems.expect(given.length === 1, field, "exactly_one", { fields: targetFields.join(", ") });
    for (const one of given) {
      problems.expect(company.tables[one.table].has(sent[one.field] ?? 0), one.field, "exists");
    }
    expectMetadata(company, problems, type, metadata);
    expectTokens(company, problems, type, tokens);
  });
  return {
    type,
    target: { kind, id: sent[field] ?? 0 },
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
    for (const field of ["type", ...targetFields]) {
      problems.expect(sent[field] === undefined, field, "prohibited");
    }
    expectMetadata(company, problems, own.type, metadata);
    expectTokens(company, problems, own.type, tokens);
    for (const [i, one] of removed.entries()) {
      const known = own.attachments.some((attachment) => attachment.id === one);
      problems.expect(known, `deletedAttachmentIds.${i}`, "exists");
    }
  });
  const kept = own.attachments.filter((attachment) => !removed.includes(attachment.id));
  const attachments = [...kept, ...attach(company, tokens)];
  return { ...own, metadata: metadataOf(own.type, metadata), attachments, ...stampsOf(company, own) };
}

/** The CRM events of one target, newest first. */
export function logsOf(company: Company, target: ActivityTarget): ActivityLog[] {
  const logs = company.tables.contact_activity_logs.findBy("target", ownerKey(target.kind, target.id));
  return logs.toSorted((a, b) => b.createdAtMs - a.createdAtMs || b.id - a.id);
}

/** Removes the CRM events of a deleted target, without events of their own. */
export function removeActivitiesOf(company: Company, target: ActivityTarget): void {
  for (const log of logsOf(company, target)) company.tables.contact_activity_logs.remove(log.id);
}

/** Which metadata each type needs and which it may have; all others are refused. */
const metadataOfType: Readonly<
  Record<string, readonly [needed: (keyof Metadata)[], allowed: (keyof Metadata)[]]>
> = {
  note: [["content"], []],
  email: [["content", "email"], []],
  phone_call: [["content", "personName"], ["phoneNumber"]],
  document_linked: [["documentType", "documentId"], []],
};

function expectMetadata(company: Company, problems: Problems, type: string, sent: Metadata): void {
  const [needed, allowed] = metadataOfType[type] ?? [[], []];
  for (const [field, value] of Object.entries(filled(metadataShape, sent))) {
    const name = field as keyof Metadata;
    if (needed.includes(name)) problems.expect(value !== null, `metadata.${field}`, "required");
    else problems.expect(value === null || allowed.includes(name), `metadata.${field}`, "prohibited");
  }
  if (type !== "document_linked" || !sent.documentType || !sent.documentId) return;
  const known = documentsOf(company, sent.documentType).has(sent.documentId);
  problems.expect(known, "metadata.documentId", "exists");
}

function metadataOf(type: string, sent: Metadata): ActivityMetadata {
  const { documentType, documentId, ...texts } = filled(metadataShape, sent);
  return type === "document_linked"
    ? { documentKind: documentType ?? "invoice", documentId: documentId ?? 0 }
    : texts;
}

function expectTokens(company: Company, problems: Problems, type: string, tokens: readonly string[]): void {
  const allowed = !type.startsWith("document") || tokens.length === 0;
  problems.expect(allowed, "attachmentUploadTokens", "no_attachments");
  for (const [i, token] of tokens.entries()) {
    const unused = company.uploads.has(token) && tokens.indexOf(token) === i;
    problems.expect(unused, `attachmentUploadTokens.${i}`, "upload_token");
  }
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
