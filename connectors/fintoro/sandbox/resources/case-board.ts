import { z } from "zod";
import { centsToNumber } from "../base/decimal-money.ts";
import { each, omit, pick, type AnsweredRecord } from "../base/values.ts";
import { lookup, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import { activityTargets, documentKinds, targetFields } from "../model/catalogue.ts";
import { documentsOf, publicOrigin } from "../model/company.ts";
import type { Attachment, BookRow, Company, Upload } from "../model/company.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import { filled, refuse, sentOnly } from "../rules/rules.ts";
import { totalsOf } from "./balance.ts";
import { collection, kept, stampsView, tenPerPage, type Write } from "./collection.ts";
import { clients, suppliers } from "./partners.ts";

/** The columns of the board. The cases of one that is removed stay without one, and without events. */
export const caseStatuses = collection("business_case_statuses", {
  shape: z.object({ name: z.string(), color: z.string() }),
  beforeRemove: ({ tables: { business_cases: cases } }, { id: own }) => {
    for (const item of cases.where(({ statusId }) => statusId === own))
      cases.replace({ ...item, statusId: null });
  },
});

export const cases = collection("business_cases", {
  shape: z.object({
    ...each("clientId supplierId statusId", z.int().nullish()),
    name: z.string(),
    description: z.string().nullish(),
  }),
  /** A case of one client or supplier, which never changes; at the end of its column. */
  facts: ({ company, sent, own }) => {
    const { clientId = null, supplierId = null, ...changes } = sent;
    const contact = own ?? (clientId === null ? { clientId, supplierId } : { clientId, supplierId: null });
    if ((contact.clientId ?? contact.supplierId) === null) refuse("clientId", "required");
    const start = { ...pick(contact, ["clientId", "supplierId"]), description: null, statusId: null };
    const after = { ...start, ...own, ...sentOnly(changes) };
    const column = company.tables.business_cases.where(({ statusId }) => statusId === after.statusId);
    const last = column.reduce((most, { boardPosition }) => Math.max(most, boardPosition), 0);
    const boardPosition = own?.statusId === after.statusId ? own.boardPosition : last + 1;
    return { ...after, boardPosition };
  },
  view: (company, item, language) => {
    const { tables } = company;
    const status = tables.business_case_statuses.get(item.statusId);
    const [client, supplier] = [tables.clients.get(item.clientId), tables.suppliers.get(item.supplierId)];
    return {
      ...omit(kept(item), ["clientId", "supplierId", "statusId"]),
      contactType: item.clientId === null ? "supplier" : "client",
      contactId: item.clientId ?? item.supplierId,
      client: client ? clients.view(company, client, language) : null,
      supplier: supplier ? suppliers.view(company, supplier, language) : null,
      status: status ? kept(status) : null,
      ...stampsView(item),
    };
  },
  list: { usualOrder: ["id", "desc"], pageSize: tenPerPage },
  method: "PATCH",
});

const metadataShape = z.object({
  ...each("content email personName phoneNumber", z.string().nullish()),
  documentType: z.enum(documentKinds).nullish(),
  documentId: z.int().nullish(),
});

const targets = "businessCaseId clientId supplierId";

const activityShape = z.object({
  ...each(targets, z.int().nullish()),
  type: z.enum(["note", "email", "phone_call", "document_linked"]),
  metadata: metadataShape,
  attachmentUploadTokens: z.array(z.string()).optional(),
  deletedAttachmentIds: z.array(z.int()).optional(),
});

/** CRM events of business cases, clients and suppliers, newest first. A change leaves type and target as they are. */
export const activities = collection("contact_activity_logs", {
  shape: activityShape,
  facts: activityFacts,
  view: activityView,
  list: {
    rows: ({ company, query }) => {
      const field = targetOf(company, query);
      const logs = company.tables.contact_activity_logs.findBy(field, Number(query[field]));
      const wanted = logs.filter(({ type }) => type === (query["type"] ?? type));
      return wanted.toSorted((a, b) => b.createdAtMs - a.createdAtMs || b.id - a.id);
    },
    pageSize: tenPerPage,
  },
  method: "PATCH",
});

/** The field that names what a CRM event belongs to. @throws Invalid */
function targetOf({ tables }: Company, sent: { readonly [field: string]: unknown }) {
  const field =
    targetFields.find((one) => (sent[one] ?? null) !== null) ?? refuse("businessCaseId", "required");
  return tables[activityTargets[field]].get(Number(sent[field])) ? field : refuse(field);
}

/** Replaces the metadata as a whole, and adds or removes attachments. */
function activityFacts({ company, sent, own }: Write<z.output<typeof activityShape>>) {
  const { attachmentUploadTokens: tokens = [], deletedAttachmentIds: removed = [] } = sent;
  const field = own ? null : targetOf(company, sent);
  const target = own ?? { ...each(targets, null), ...(field && pick(sent, [field])) };
  const type = own?.type ?? sent.type;
  const { documentType: documentKind, documentId, ...words } = filled(metadataShape, sent.metadata ?? {});
  const document = documentKind && documentsOf(company, documentKind).get(documentId);
  if (type === "document_linked" && !document) refuse("metadata.documentId");
  if (tokens.some((token) => !company.uploads.has(token))) refuse("attachmentUploadTokens");
  const before = own?.attachments.filter((attachment) => !removed.includes(attachment.id)) ?? [];
  const added = tokens.flatMap((token): Attachment[] => {
    const upload = company.uploads.get(token);
    company.uploads.delete(token);
    return upload ? [{ id: company.nextPartId(), ...upload }] : [];
  });
  const metadata = document ? { documentKind: document.kind, documentId: document.id } : words;
  return { type, ...pick(target, targetFields), metadata, attachments: [...before, ...added] };
}

/** Keeps an uploaded file until a CRM event takes it; gives its token, which works once. */
export function keepUpload(company: Company, upload: Upload): string {
  const token = Buffer.from(`upload:${company.random.uuid()}`).toString("base64url");
  company.uploads.set(token, upload);
  return token;
}

function activityView(company: Company, log: BookRow, language: ServiceLanguage): AnsweredRecord {
  const { id, type } = log;
  return {
    id,
    type,
    metadata: metadataView(company, log, language),
    attachments: log.attachments.map((one) => {
      const url = `${publicOrigin}/media/contact-activity-attachments/${one.id}`;
      return { ...pick(one, ["id", "name", "mimeType"]), url };
    }),
    ...pick(log, targetFields),
    ...stampsView(log),
  };
}

function metadataView(company: Company, { type, metadata }: BookRow, language: ServiceLanguage) {
  const { content = null, email = null, personName = null, phoneNumber = null } = metadata;
  if (type === "note") return { content };
  if (type === "email") return { content, email };
  if (type === "phone_call") return { content, personName, phoneNumber };
  const { numberSnapshot, priceSnapshot, paidAmount, currencySnapshotId: currencyId } = metadata;
  const { documentKind: documentType = "invoice", documentId = 0 } = metadata;
  const document = documentsOf(company, documentType).get(documentId);
  return {
    ...sentOnly({
      documentNumberSnapshot: numberSnapshot,
      documentPriceSnapshot: priceSnapshot,
      documentCurrencySnapshot: currencyId && lookup("currencies", currencyId, language),
      paidAmount,
    }),
    // As it is now; null once it is deleted.
    relatedDocument: document
      ? {
          documentType,
          documentId,
          name: `${texts[documentType].label} ${document.number}`,
          number: document.number,
          issueDate: document.issueDate,
          totalWithVat: centsToNumber(totalsOf(document).gross),
          currency: lookup("currencies", document.currencyId, language),
        }
      : null,
  };
}
