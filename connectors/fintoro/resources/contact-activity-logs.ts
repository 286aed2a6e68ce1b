import { defineResource } from "../../../src/connector/define.ts";
import {
  children,
  date,
  decimal,
  doc,
  idOf,
  integer,
  nested,
  oneOf,
  orNull,
  record,
  snapshot,
  stated,
  text,
  timestamp,
} from "../../../src/connector/record-schema.ts";
import { currency } from "./lookups.ts";

/** Types that a user writes; the service adds `document_*` by itself. */
export const writtenLogTypes = ["note", "email", "phone_call", "document_linked"] as const;

const logTypes = [
  ...writtenLogTypes,
  "document_created",
  "document_updated",
  "document_deleted",
  "document_payment_added",
] as const;

const relatedDocumentTypes = [
  "invoice",
  "proforma",
  "order",
  "quotation",
  "credit-note",
  "received-invoice",
  "received-receipt",
  "warehouse-inbound-receipt",
  "warehouse-outbound-receipt",
] as const;

const relatedDocument = record({
  documentType: stated(oneOf(relatedDocumentTypes)),
  documentId: stated(doc("Id within the table of its type", integer())),
  name: stated(text()),
  number: stated(text()),
  issueDate: stated(date()),
  totalWithVat: stated(doc("As it is now, not on the day of the event", orNull(decimal()))),
  currency: stated(orNull(nested("currencies", currency))),
});

const logMetadata = record({
  content: stated(doc("Text of the note, mail or call", orNull(text()))),
  email: stated(orNull(text())),
  personName: stated(doc("Who was on the phone", orNull(text()))),
  phoneNumber: stated(orNull(text())),
  documentNumberSnapshot: stated(doc("Number on the day of the event", orNull(text()))),
  documentPriceSnapshot: stated(doc("Total with VAT on the day of the event", orNull(decimal()))),
  documentCurrencySnapshot: stated(orNull(nested("currencies", currency))),
  paidAmount: stated(doc("Amount of the payment that was added", orNull(decimal()))),
  relatedDocument: stated(orNull(snapshot(relatedDocument))),
});

const logAttachment = record({
  id: stated(integer()),
  name: stated(doc("File name", text())),
  mimeType: stated(text()),
  url: stated(doc("Where the service keeps it; data, never followed", text())),
});

export const contactActivityLog = record({
  id: stated(integer()),
  type: stated(oneOf(logTypes)),
  metadata: stated(doc("Which of these are filled depends on the type", snapshot(logMetadata))),
  attachments: stated(children("contact_activity_log_attachments", logAttachment)),
  businessCaseId: stated(orNull(idOf("business_cases"))),
  clientId: stated(orNull(idOf("clients"))),
  supplierId: stated(orNull(idOf("suppliers"))),
  createdAt: stated(orNull(timestamp())),
  updatedAt: stated(orNull(timestamp())),
});

/** A log shows its document as it is now: its columns that name it, kind and id. */
export const relatedDocumentColumns = [
  "metadata_related_document_document_type",
  "metadata_related_document_document_id",
] as const;

export const contactActivityLogs = defineResource({
  lookedUpBy: relatedDocumentColumns,
  name: "contact_activity_logs",
  singular: "contact_activity_log",
  title: "CRM events",
  origin: "stated",
  record: contactActivityLog,
  list: {
    kind: "parents",
    path: "/contact-activity-logs",
    perPage: 200,
    parents: [
      { resource: "clients", param: "clientId", field: "clientId" },
      { resource: "suppliers", param: "supplierId", field: "supplierId" },
      { resource: "business_cases", param: "businessCaseId", field: "businessCaseId" },
    ],
  },
  detail: "/contact-activity-logs/{id}",
  doc: "Notes, mails, calls and document events of clients, suppliers and business cases",
});
