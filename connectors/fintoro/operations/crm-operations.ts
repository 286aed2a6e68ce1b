import { z } from "zod";
import { integer, record, stated as statedField, text } from "../../../src/connector/record-schema.ts";
import { businessCase, businessCaseStatus } from "../resources/business-cases.ts";
import { contactActivityLog, writtenLogTypes } from "../resources/contact-activity-logs.ts";
import { seriesDocumentTypes } from "../resources/numerical-series.ts";
import * as op from "./operation-builders.ts";
import { email, exactlyOne, id, maybe, sorted, characters } from "./input-types.ts";

const statusInput = z.strictObject({ name: characters(255), color: characters(7) });
const caseInput = { statusId: maybe(id), name: characters(255), description: maybe(z.string()) };
const caseCreateInput = z
  .strictObject({ clientId: maybe(id), supplierId: maybe(id), ...caseInput })
  .refine(...exactlyOne("clientId", "supplierId"));
/** The linked contact cannot be changed. */
const caseUpdateInput = z.strictObject(caseInput).partial();

const metadata = z.strictObject({
  content: maybe(z.string()),
  email: maybe(email()),
  personName: maybe(z.string()),
  phoneNumber: maybe(z.string()),
  documentType: maybe(z.enum(seriesDocumentTypes)),
  documentId: maybe(id),
});

const target = { businessCaseId: maybe(id), clientId: maybe(id), supplierId: maybe(id) };
const oneTarget = exactlyOne(...Object.keys(target));
const logInput = { metadata, attachmentUploadTokens: z.array(z.string()).optional() };

const logCreateInput = z
  .strictObject({ ...target, type: z.enum(writtenLogTypes), ...logInput })
  .refine(...oneTarget);

/** Type and target of an event cannot be changed. */
const logUpdateInput = z.strictObject({ ...logInput, deletedAttachmentIds: z.array(id).optional() });

const oneLog = "/contact-activity-logs/{contactActivityLog}";
const logList = op.pagedList("/contact-activity-logs", contactActivityLog, 200, {
  businessCaseId: id.optional(),
  clientId: id.optional(),
  supplierId: id.optional(),
  type: z.enum(writtenLogTypes).optional(),
});

/** The answer to an upload; its token is given when an event is created or updated. */
export const attachmentUpload = record({
  uploadToken: statedField(text()),
  fileName: statedField(text()),
  mimeType: statedField(text()),
  size: statedField(integer()),
});

/** Operations on business cases and CRM events. */
export const crmOperations = {
  businessCaseStatuses: {
    list: op.wholeList("/business-case-statuses", businessCaseStatus),
    ...op.records("/business-case-statuses", "businessCaseStatus", businessCaseStatus, statusInput),
  },
  businessCases: {
    list: op.pagedList("/business-cases", businessCase, 200, {
      clientId: id.optional(),
      supplierId: id.optional(),
      statusId: maybe(id),
      search: characters(255).optional(),
      ...sorted(["name", "createdAt", "updatedAt", "boardPosition"]),
    }),
    ...op.records("/business-cases", "businessCase", businessCase, caseCreateInput),
    update: op.writeRecord("PATCH", "/business-cases/{businessCase}", caseUpdateInput, businessCase),
  },
  contactActivityLogs: {
    list: op.filtered(logList, logList.query.refine(...oneTarget)),
    ...op.records("/contact-activity-logs", "contactActivityLog", contactActivityLog, logCreateInput),
    update: op.writeRecord("PATCH", oneLog, logUpdateInput, contactActivityLog),
    attachments: op.download(`${oneLog}/attachments`, "application/zip"),
  },
  contactActivityAttachments: {
    upload: {
      ...op.wholeList("/contact-activity-attachments", attachmentUpload),
      method: "POST",
      body: z.strictObject({ files: z.array(z.file()).min(1) }),
      bodyType: "multipart",
      status: 201,
    },
  },
} as const;
