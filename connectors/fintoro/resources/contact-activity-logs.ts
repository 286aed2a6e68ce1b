import * as t from "../../../src/connector/record-schema.ts";
import { currency } from "./lookups.ts";
import { resource } from "./resource-builders.ts";

/** Types that users write; the service itself adds the `document_*` ones. */
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

const relatedDocument = t.record({
  documentType: t.stated(t.oneOf(relatedDocumentTypes)),
  documentId: t.stated(t.doc("Id within the table of its type", t.integer())),
  name: t.stated(t.text()),
  number: t.stated(t.text()),
  issueDate: t.stated(t.date()),
  totalWithVat: t.stated(t.doc("As it is now, not on the day of the event", t.orNull(t.decimal()))),
  currency: t.stated(t.orNull(t.nested("currencies", currency))),
});

const logMetadata = t.record({
  content: t.stated(t.doc("Text of the note, mail or call", t.orNull(t.text()))),
  email: t.stated(t.orNull(t.text())),
  personName: t.stated(t.doc("Who was on the phone", t.orNull(t.text()))),
  phoneNumber: t.stated(t.orNull(t.text())),
  documentNumberSnapshot: t.stated(t.doc("Number on the day of the event", t.orNull(t.text()))),
  documentPriceSnapshot: t.stated(t.doc("Total with VAT on the day of the event", t.orNull(t.decimal()))),
  documentCurrencySnapshot: t.stated(t.orNull(t.nested("currencies", currency))),
  paidAmount: t.stated(t.doc("Amount of the payment that was added", t.orNull(t.decimal()))),
  relatedDocument: t.stated(t.orNull(t.snapshot(relatedDocument))),
});

const logAttachment = t.record({
  id: t.stated(t.integer()),
  name: t.stated(t.doc("File name", t.text())),
  mimeType: t.stated(t.text()),
  url: t.stated(t.doc("Where the service keeps it; data, never followed", t.text())),
});

export const contactActivityLog = t.record({
  id: t.stated(t.integer()),
  type: t.stated(t.oneOf(logTypes)),
  metadata: t.stated(t.doc("Which of these are filled depends on the type", t.snapshot(logMetadata))),
  attachments: t.stated(t.children("contact_activity_log_attachments", logAttachment)),
  businessCaseId: t.stated(t.orNull(t.idOf("business_cases"))),
  clientId: t.stated(t.orNull(t.idOf("clients"))),
  supplierId: t.stated(t.orNull(t.idOf("suppliers"))),
  createdAt: t.stated(t.orNull(t.timestamp())),
  updatedAt: t.stated(t.orNull(t.timestamp())),
});

/** Columns with kind and id of a log's document; the log shows the document as it is now. */
export const relatedDocumentColumns = [
  "metadata_related_document_document_type",
  "metadata_related_document_document_id",
] as const;

export const contactActivityLogs = resource("contact_activity_logs", "CRM events", {
  lookedUpBy: relatedDocumentColumns,
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
  files: {
    kind: "attachment",
    path: "/contact-activity-logs/{id}/attachments",
    mediaType: "application/zip",
    date: "created_at",
    name: [],
    where: "contact_activity_log_attachments",
  },
  doc: "Notes, mails, calls and document events of clients, suppliers and business cases",
});
