import { z } from "zod";
import { documentKinds } from "../../model/catalogue.ts";
import type {
  ActivityLog,
  ActivityMetadata,
  ActivityTarget,
  Attachment,
  DocumentKind,
} from "../../model/company-records.ts";
import { Problems } from "../../rules/refusals.ts";
import { email, id, parse, text } from "../../rules/request-shape.ts";
import { documentsOf, type Company } from "../company-state.ts";
import { emit } from "../emit.ts";
import { peekUpload, takeUpload } from "../uploads.ts";

const metadataShape = z.object({
  content: z.string().nullish(),
  email: email().nullish(),
  personName: text().nullish(),
  phoneNumber: text().nullish(),
  documentType: z.enum(["invoice", "proforma", "order", "quotation", "credit-note"]).nullish(),
  documentId: id().nullish(),
});
type Sent = z.output<typeof metadataShape>;

const logInput = z.object({
  businessCaseId: id().nullish(),
  clientId: id().nullish(),
  supplierId: id().nullish(),
  type: z.enum(["note", "email", "phone_call", "document_linked"]),
  metadata: metadataShape,
  attachmentUploadTokens: z.array(z.string()).optional(),
});

const logPatch = z.object({
  businessCaseId: z.unknown().optional(),
  clientId: z.unknown().optional(),
  supplierId: z.unknown().optional(),
  type: z.unknown().optional(),
  metadata: metadataShape,
  attachmentUploadTokens: z.array(z.string()).optional(),
  deletedAttachmentIds: z.array(id()).optional(),
});

export function createLog(company: Company, input: unknown): ActivityLog {
  const sent = parse(logInput, input);
  const problems = new Problems();
  const target = targetOf(company, problems, sent);
  const metadata = metadataFor(company, problems, sent.type, sent.metadata);
  const tokens = tokensFor(company, problems, sent.type, sent.attachmentUploadTokens);
  problems.settle();
  const now = company.clock.nowMs();
  const log = company.tables.contact_activity_logs.add((newId) => ({
    id: newId,
    type: sent.type,
    target,
    metadata,
    attachments: attach(company, tokens),
    createdAtMs: now,
    updatedAtMs: now,
  }));
  emit(company, "contact_activity_logs", "created", log.id);
  return log;
}

/** Metadata as a whole, attachments one by one; type and target stay. */
export function updateLog(company: Company, log: ActivityLog, input: unknown): ActivityLog {
  const sent = parse(logPatch, input);
  const problems = new Problems();
  for (const field of ["type", "businessCaseId", "clientId", "supplierId"] as const) {
    problems.expect(sent[field] === undefined, field, "prohibited");
  }
  const metadata = metadataFor(company, problems, log.type, sent.metadata);
  const tokens = tokensFor(company, problems, log.type, sent.attachmentUploadTokens);
  const dropped = sent.deletedAttachmentIds ?? [];
  dropped.forEach((attachmentId, i) => {
    const known = log.attachments.some((attachment) => attachment.id === attachmentId);
    problems.expect(known, `deletedAttachmentIds.${i}`, "exists");
  });
  problems.settle();
  const kept = log.attachments.filter((attachment) => !dropped.includes(attachment.id));
  const saved = company.tables.contact_activity_logs.replace({
    ...log,
    metadata,
    attachments: [...kept, ...attach(company, tokens)],
    updatedAtMs: company.clock.nowMs(),
  });
  emit(company, "contact_activity_logs", "updated", log.id);
  return saved;
}

export function deleteLog(company: Company, log: ActivityLog): void {
  company.tables.contact_activity_logs.remove(log.id);
  emit(company, "contact_activity_logs", "deleted", log.id);
}

function targetOf(company: Company, problems: Problems, sent: z.output<typeof logInput>): ActivityTarget {
  const { business_cases: cases, clients, suppliers } = company.tables;
  const targets = [
    { kind: "businessCase", field: "businessCaseId", value: sent.businessCaseId, table: cases },
    { kind: "client", field: "clientId", value: sent.clientId, table: clients },
    { kind: "supplier", field: "supplierId", value: sent.supplierId, table: suppliers },
  ] as const;
  const given = targets.filter(({ value }) => value !== null && value !== undefined);
  const fields = targets.map(({ field }) => field).join(", ");
  problems.expect(given.length === 1, given[0]?.field ?? "businessCaseId", "exactly_one", { fields });
  for (const { field, value, table } of given) problems.expect(table.has(value ?? 0), field, "exists");
  return { kind: given[0]?.kind ?? "client", id: given[0]?.value ?? 0 };
}

/** Each type has its own fields: some it needs, the others it refuses. */
const fieldsOfType: Readonly<
  Record<string, { readonly needs: (keyof Sent)[]; readonly may: (keyof Sent)[] }>
> = {
  note: { needs: ["content"], may: [] },
  email: { needs: ["content", "email"], may: [] },
  phone_call: { needs: ["content", "personName"], may: ["phoneNumber"] },
  document_linked: { needs: ["documentType", "documentId"], may: [] },
};

function metadataFor(company: Company, problems: Problems, type: string, sent: Sent): ActivityMetadata {
  const { needs, may } = fieldsOfType[type] ?? { needs: [], may: [] };
  for (const field of needs) problems.expect((sent[field] ?? null) !== null, `metadata.${field}`, "required");
  for (const field of Object.keys(metadataShape.shape) as (keyof Sent)[]) {
    const allowed = needs.includes(field) || may.includes(field) || (sent[field] ?? null) === null;
    problems.expect(allowed, `metadata.${field}`, "prohibited");
  }
  if (type !== "document_linked") {
    const { content, email: address, personName, phoneNumber } = sent;
    return {
      content: content ?? null,
      email: address ?? null,
      personName: personName ?? null,
      phoneNumber: phoneNumber ?? null,
    };
  }
  const kind = documentKinds.find((known) => known === sent.documentType) ?? "invoice";
  const documentId = sent.documentId ?? 0;
  if (sent.documentId) problems.expect(exists(company, kind, documentId), "metadata.documentId", "exists");
  return { documentKind: kind, documentId };
}

function exists(company: Company, kind: DocumentKind, documentId: number): boolean {
  return documentsOf(company, kind).has(documentId);
}

function tokensFor(
  company: Company,
  problems: Problems,
  type: string,
  tokens: readonly string[] = [],
): readonly string[] {
  if (type.startsWith("document") && tokens.length > 0)
    problems.add("attachmentUploadTokens", "no_attachments");
  tokens.forEach((token, i) => {
    const fresh = peekUpload(company, token) && tokens.indexOf(token) === i;
    problems.expect(fresh, `attachmentUploadTokens.${i}`, "upload_token");
  });
  return tokens;
}

function attach(company: Company, tokens: readonly string[]): Attachment[] {
  return tokens.flatMap((token) => {
    const upload = takeUpload(company, token);
    return upload ? [{ id: company.settings.nextPartId++, ...upload }] : [];
  });
}
