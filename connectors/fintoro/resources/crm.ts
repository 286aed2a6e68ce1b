import * as t from "../../../src/connector/record-schema.ts";
import { client, supplier } from "./clients-and-suppliers.ts";
import { currency } from "./lookups.ts";
import { pagedResource, resource, wholeResource } from "./resource-builders.ts";

export const businessCaseStatus = t.record(
  t.allStated({ id: t.integer(), name: t.text(), color: t.doc("Hex colour", t.text()) }),
);

const statusOfCase = t.orNull(t.nested("business_case_statuses", businessCaseStatus));

export const businessCase = t.record({
  id: t.integer(),
  contactType: t.doc("Which of client and supplier it is about", t.oneOf(["client", "supplier"])),
  contactId: t.doc("Id of that client or supplier", t.integer()),
  client: t.orNull(t.nested("clients", client)),
  supplier: t.orNull(t.nested("suppliers", supplier)),
  name: t.text(),
  description: t.orNull(t.text()),
  status: t.stated(t.doc("Null when its status was deleted", statusOfCase)),
  boardPosition: t.doc("Place within its column", t.integer()),
  ...t.each("createdAt updatedAt", t.orNull(t.timestamp())),
});

export const businessCaseStatuses = wholeResource("business_case_statuses", "Business case statuses", {
  singular: "business_case_status",
  origin: "stated",
  record: businessCaseStatus,
  doc: "Columns of the sales pipeline",
});

// `id`, the default, is not among the values that `sortBy` takes.
export const businessCases = pagedResource("business_cases", "Business cases", null, {
  record: businessCase,
  quick: { latestFirst: { sortBy: "updatedAt", sortDirection: "desc" } },
});

/** Types that users write; the service itself adds the `document_*` ones. */
export const writtenLogTypes = t.namesIn("note email phone_call document_linked");

const addedLogTypes = t.namesIn("document_created document_updated document_deleted document_payment_added");

const relatedDocumentTypes = t.namesIn(
  "invoice proforma order quotation credit-note received-invoice received-receipt warehouse-inbound-receipt warehouse-outbound-receipt",
);

const relatedDocument = t.record(
  t.allStated({
    documentType: t.oneOf(relatedDocumentTypes),
    documentId: t.doc("Id within the table of its type", t.integer()),
    ...t.each("name number", t.text()),
    issueDate: t.date(),
    totalWithVat: t.doc("As it is now, not on the day of the event", t.orNull(t.decimal())),
    currency: t.orNull(t.nested("currencies", currency)),
  }),
);

const logMetadata = t.record(
  t.allStated({
    content: t.doc("Text of the note, mail or call", t.orNull(t.text())),
    email: t.orNull(t.text()),
    personName: t.doc("Who was on the phone", t.orNull(t.text())),
    phoneNumber: t.orNull(t.text()),
    documentNumberSnapshot: t.doc("Number on the day of the event", t.orNull(t.text())),
    documentPriceSnapshot: t.doc("Total with VAT on the day of the event", t.orNull(t.decimal())),
    documentCurrencySnapshot: t.orNull(t.nested("currencies", currency)),
    paidAmount: t.doc("Amount of the payment that was added", t.orNull(t.decimal())),
    relatedDocument: t.orNull(t.snapshot(relatedDocument)),
  }),
);

const logAttachment = t.record(
  t.allStated({
    id: t.integer(),
    name: t.doc("File name", t.text()),
    mimeType: t.text(),
    url: t.doc("Where the service keeps it; data, never followed", t.text()),
  }),
);

export const contactActivityLog = t.record(
  t.allStated({
    id: t.integer(),
    type: t.oneOf([...writtenLogTypes, ...addedLogTypes]),
    metadata: t.doc("Which of these are filled depends on the type", t.snapshot(logMetadata)),
    attachments: t.children("contact_activity_log_attachments", logAttachment),
    businessCaseId: t.orNull(t.idOf("business_cases")),
    clientId: t.orNull(t.idOf("clients")),
    supplierId: t.orNull(t.idOf("suppliers")),
    ...t.each("createdAt updatedAt", t.orNull(t.timestamp())),
  }),
);

/** Columns with kind and id of a log's document; the log shows the document as it is now. */
export const relatedDocumentColumns = [
  "metadata_related_document_document_type",
  "metadata_related_document_document_id",
] as const;

export const contactActivityLogs = resource("contact_activity_logs", "CRM events", {
  lookedUpBy: relatedDocumentColumns,
  content: {
    contact_activity_logs: ["content", "email", "person_name", "phone_number"].map(
      (name) => `metadata_${name}`,
    ),
    contact_activity_log_attachments: ["name", "url"],
  },
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
