import { z } from "zod";
import { integer, record, stated as statedField, text } from "../../../src/connector/record-schema.ts";
import { businessCase, businessCaseStatus } from "../resources/business-cases.ts";
import { contactActivityLog, writtenLogTypes } from "../resources/contact-activity-logs.ts";
import { seriesDocumentTypes } from "../resources/numerical-series.ts";
import {
  create,
  download,
  filtered,
  group,
  idempotent,
  pagedList,
  remove,
  show,
  statedRoute,
  update,
  wholeList,
} from "./operation-builders.ts";
import { email, exactlyOne, id, maybe, sorted, characters } from "./input-types.ts";

const statusInput = z.strictObject({ name: characters(255), color: characters(7) });

export const businessCaseStatusOperations = group("businessCaseStatuses", {
  list: wholeList("/business-case-statuses", businessCaseStatus),
  create: idempotent(create("/business-case-statuses", statusInput, businessCaseStatus)),
  show: statedRoute(show("/business-case-statuses/{businessCaseStatus}", businessCaseStatus)),
  update: update("PUT", "/business-case-statuses/{businessCaseStatus}", statusInput, businessCaseStatus),
  delete: remove("/business-case-statuses/{businessCaseStatus}"),
});

const caseCreateInput = z
  .strictObject({
    clientId: maybe(id),
    supplierId: maybe(id),
    statusId: maybe(id),
    name: characters(255),
    description: maybe(z.string()),
  })
  .refine(...exactlyOne("clientId", "supplierId"));

/** The linked contact cannot be changed. */
const caseUpdateInput = z.strictObject({
  statusId: maybe(id),
  name: characters(255).optional(),
  description: maybe(z.string()),
});

export const businessCaseOperations = group("businessCases", {
  list: pagedList("/business-cases", businessCase, 200, {
    clientId: id.optional(),
    supplierId: id.optional(),
    statusId: maybe(id),
    search: characters(255).optional(),
    ...sorted(["name", "createdAt", "updatedAt", "boardPosition"]),
  }),
  create: idempotent(create("/business-cases", caseCreateInput, businessCase)),
  show: show("/business-cases/{businessCase}", businessCase),
  update: update("PATCH", "/business-cases/{businessCase}", caseUpdateInput, businessCase),
  delete: remove("/business-cases/{businessCase}"),
});

const metadata = z.strictObject({
  content: maybe(z.string()),
  email: maybe(email()),
  personName: maybe(z.string()),
  phoneNumber: maybe(z.string()),
  documentType: maybe(z.enum(seriesDocumentTypes)),
  documentId: maybe(id),
});

const targets = ["businessCaseId", "clientId", "supplierId"] as const;

const logCreateInput = z
  .strictObject({
    businessCaseId: maybe(id),
    clientId: maybe(id),
    supplierId: maybe(id),
    type: z.enum(writtenLogTypes),
    metadata,
    attachmentUploadTokens: z.array(z.string()).optional(),
  })
  .refine(...exactlyOne(...targets));

/** Type and target of an event cannot be changed. */
const logUpdateInput = z.strictObject({
  metadata,
  attachmentUploadTokens: z.array(z.string()).optional(),
  deletedAttachmentIds: z.array(id).optional(),
});

const logList = pagedList("/contact-activity-logs", contactActivityLog, 200, {
  businessCaseId: id.optional(),
  clientId: id.optional(),
  supplierId: id.optional(),
  type: z.enum(writtenLogTypes).optional(),
});

export const contactActivityLogOperations = group("contactActivityLogs", {
  list: statedRoute(filtered(logList, logList.query.refine(...exactlyOne(...targets)))),
  create: idempotent(create("/contact-activity-logs", logCreateInput, contactActivityLog)),
  show: show("/contact-activity-logs/{contactActivityLog}", contactActivityLog),
  update: update("PATCH", "/contact-activity-logs/{contactActivityLog}", logUpdateInput, contactActivityLog),
  delete: remove("/contact-activity-logs/{contactActivityLog}"),
  attachments: download("/contact-activity-logs/{contactActivityLog}/attachments", "application/zip"),
});

/** The answer to an upload; its token is given when an event is created or updated. */
export const attachmentUpload = record({
  uploadToken: statedField(text()),
  fileName: statedField(text()),
  mimeType: statedField(text()),
  size: statedField(integer()),
});

export const attachmentOperations = group("contactActivityAttachments", {
  upload: statedRoute({
    ...wholeList("/contact-activity-attachments", attachmentUpload),
    method: "POST",
    body: z.strictObject({ files: z.array(z.file()).min(1) }),
    bodyType: "multipart",
    status: 201,
  }),
});
