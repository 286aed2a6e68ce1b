import { z } from "zod";
import { integer, record, stated as statedField, text } from "../../../src/connector/record-schema.ts";
import { businessCase, businessCaseStatus } from "../resources/business-cases.ts";
import { contactActivityLog, writtenLogTypes } from "../resources/contact-activity-logs.ts";
import { seriesDocumentTypes } from "../resources/numerical-series.ts";
import * as op from "./operation-builders.ts";
import { email, exactlyOne, id, maybe, sorted, characters } from "./input-types.ts";

const statusInput = z.strictObject({ name: characters(255), color: characters(7) });

const oneStatus = "/business-case-statuses/{businessCaseStatus}";

export const businessCaseStatusOperations = op.group("businessCaseStatuses", {
  list: op.wholeList("/business-case-statuses", businessCaseStatus),
  ...op.records("/business-case-statuses", oneStatus, businessCaseStatus, statusInput),
  show: op.statedRoute(op.show(oneStatus, businessCaseStatus)),
});

const caseInput = { statusId: maybe(id), name: characters(255), description: maybe(z.string()) };
const caseCreateInput = z
  .strictObject({ clientId: maybe(id), supplierId: maybe(id), ...caseInput })
  .refine(...exactlyOne("clientId", "supplierId"));
/** The linked contact cannot be changed. */
const caseUpdateInput = z.strictObject(caseInput).partial();

export const businessCaseOperations = op.group("businessCases", {
  list: op.pagedList("/business-cases", businessCase, 200, {
    clientId: id.optional(),
    supplierId: id.optional(),
    statusId: maybe(id),
    search: characters(255).optional(),
    ...sorted(["name", "createdAt", "updatedAt", "boardPosition"]),
  }),
  create: op.idempotent(op.create("/business-cases", caseCreateInput, businessCase)),
  show: op.show("/business-cases/{businessCase}", businessCase),
  update: op.update("PATCH", "/business-cases/{businessCase}", caseUpdateInput, businessCase),
  delete: op.remove("/business-cases/{businessCase}"),
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
const logInput = { metadata, attachmentUploadTokens: z.array(z.string()).optional() };

const logCreateInput = z
  .strictObject({
    businessCaseId: maybe(id),
    clientId: maybe(id),
    supplierId: maybe(id),
    type: z.enum(writtenLogTypes),
    ...logInput,
  })
  .refine(...exactlyOne(...targets));

/** Type and target of an event cannot be changed. */
const logUpdateInput = z.strictObject({ ...logInput, deletedAttachmentIds: z.array(id).optional() });

const logList = op.pagedList("/contact-activity-logs", contactActivityLog, 200, {
  businessCaseId: id.optional(),
  clientId: id.optional(),
  supplierId: id.optional(),
  type: z.enum(writtenLogTypes).optional(),
});

export const contactActivityLogOperations = op.group("contactActivityLogs", {
  list: op.statedRoute(op.filtered(logList, logList.query.refine(...exactlyOne(...targets)))),
  create: op.idempotent(op.create("/contact-activity-logs", logCreateInput, contactActivityLog)),
  show: op.show("/contact-activity-logs/{contactActivityLog}", contactActivityLog),
  update: op.update(
    "PATCH",
    "/contact-activity-logs/{contactActivityLog}",
    logUpdateInput,
    contactActivityLog,
  ),
  delete: op.remove("/contact-activity-logs/{contactActivityLog}"),
  attachments: op.download("/contact-activity-logs/{contactActivityLog}/attachments", "application/zip"),
});

/** The answer to an upload; its token is given when an event is created or updated. */
export const attachmentUpload = record({
  uploadToken: statedField(text()),
  fileName: statedField(text()),
  mimeType: statedField(text()),
  size: statedField(integer()),
});

export const attachmentOperations = op.group("contactActivityAttachments", {
  upload: op.statedRoute({
    ...op.wholeList("/contact-activity-attachments", attachmentUpload),
    method: "POST",
    body: z.strictObject({ files: z.array(z.file()).min(1) }),
    bodyType: "multipart",
    status: 201,
  }),
});
