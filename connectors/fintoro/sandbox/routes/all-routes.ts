import { pick } from "../base/values.ts";
import { isIn } from "../collections/record-list.ts";
import { activities, keepUpload } from "../crm/activities.ts";
import { cases, caseStatuses } from "../crm/case-board.ts";
import { creditInvoice, documents } from "../documents/documents.ts";
import { documentView } from "../documents/document-view.ts";
import { seriesView } from "../documents/number-series.ts";
import { payments, sendMail } from "../documents/payments.ts";
import { route, type Call, type Route } from "../http/router.ts";
import { file, list, nothing, oneRecord, value, type Answer } from "../http/service-answer.ts";
import { lookupList, lookupNames } from "../lookups/lookup-lists.ts";
import { collections, documentKinds, kindFacts, type TableName } from "../model/catalogue.ts";
import { clients, suppliers } from "../collections/partners.ts";
import { receipts } from "../collections/receipts.ts";
import { recordAt, type Collection } from "../collections/collection.ts";
import { accounts, rotateSecret, subscriptions, viewWithSecret } from "../collections/own-settings.ts";
import { priceList, warehouses } from "../collections/stock.ts";
import { Missing, refuse } from "../rules/problems.ts";
import { recordPdf, zipOf } from "./record-files.ts";
import { subjects } from "../samples/parties.ts";

/** Every collection that requests write. */
export const writable: { readonly [K in TableName]: Collection<K> } = {
  clients,
  suppliers,
  bank_accounts: accounts,
  business_case_statuses: caseStatuses,
  business_cases: cases,
  contact_activity_logs: activities,
  warehouses,
  warehouse_inbound_receipts: receipts.inbound as Collection<"warehouse_inbound_receipts">,
  warehouse_outbound_receipts: receipts.outbound as Collection<"warehouse_outbound_receipts">,
  price_list_items: priceList,
  invoices: documents.invoice as Collection<"invoices">,
  credit_notes: documents["credit-note"] as Collection<"credit_notes">,
  proformas: documents.proforma as Collection<"proformas">,
  orders: documents.order as Collection<"orders">,
  quotations: documents.quotation as Collection<"quotations">,
  document_payments: payments,
  webhook_subscriptions: subscriptions,
};

const withPdf = [
  ...documentKinds.map((kind) => kindFacts[kind].table),
  ...(["warehouse_inbound_receipts", "warehouse_outbound_receipts"] as const),
];

/** Every route of the API. */
export function allRoutes(): Route[] {
  return [
    route("GET", "/whoami", ({ company }) => oneRecord({ name: company.settings.name })),
    ...lookupNames.map((name) =>
      route("GET", `/${name}`, ({ language }) => list(lookupList(name, language))),
    ),
    route("GET", "/numerical-series", ({ company, query }) => {
      const { documentType } = query;
      const own = company.tables.numerical_series.where((one) => one.documentKind === documentType);
      return list(own.map((one) => seriesView(company, one)));
    }),
    route("GET", "/numerical-series/{id}", (call) =>
      oneRecord(seriesView(call.company, recordAt(call, "numerical_series"))),
    ),
    route("GET", "/subjects", listSubjects),
    route("GET", "/subjects/{id}", showSubject),
    ...Object.values(writable).flatMap((one) => one.routes()),
    ...withPdf.map((table) =>
      route("GET", `/${collections[table].path}/{id}/pdf`, (call) => {
        const record = recordAt(call, table);
        return file("application/pdf", `${record.number}.pdf`, recordPdf(record));
      }),
    ),
    route("GET", "/contact-activity-logs/{id}/attachments", attachmentsZip),
    route("POST", "/invoices/{id}/credit-notes", credit),
    route("POST", "/document-mails", ({ company, input }) => {
      sendMail(company, input);
      return nothing(202);
    }),
    route("POST", "/webhook-subscriptions/{id}/rotate-secret", rotate, false),
    route("POST", "/contact-activity-attachments", upload, false),
  ];
}

function credit(call: Call): Answer {
  const note = creditInvoice(call.company, recordAt(call, "invoices"), call.input);
  return oneRecord(documentView(call.company, note, call.language), 201);
}

function rotate(call: Call): Answer {
  const rotated = rotateSecret(call.company, recordAt(call, "webhook_subscriptions"));
  return oneRecord(viewWithSecret(call.company, rotated));
}

function upload({ company, files }: Call): Answer {
  if (files.length === 0) refuse("files", "required");
  const data = files.map((sent) => {
    const { name: fileName, mimeType, content } = sent;
    return { uploadToken: keepUpload(company, sent), fileName, mimeType, size: content.length };
  });
  return value({ data }, 201);
}

function attachmentsZip(call: Call): Answer {
  const { id, attachments, createdAtMs: atMs } = recordAt(call, "contact_activity_logs");
  if (attachments.length === 0) throw new Missing();
  const entries = attachments.map(({ name, content }) => ({ name, content, atMs }));
  return file("application/zip", `attachments-${id}.zip`, zipOf(entries));
}

const subjectView = (subject: (typeof subjects)[number]) =>
  pick(subject, ["id", "name", "taxId", "vatId", "legalForm", "city", "street", "zip"]);

/** Subjects of the register by a part of the name or the beginning of the business id. */
function listSubjects({ query }: Call): Answer {
  const { searchQuery = "", legalForm, limit = "20" } = query;
  const found = subjects.filter(
    (subject) =>
      subject.legalForm === (legalForm ?? subject.legalForm) &&
      (isIn(searchQuery, subject.name) || subject.subjectId.startsWith(searchQuery)),
  );
  return list(found.slice(0, Number(limit)).map(subjectView));
}

/** One subject of the register. @throws Missing */
function showSubject({ id }: Call): Answer {
  const subject = subjects.find((one) => one.id === id);
  if (!subject) throw new Missing();
  return oneRecord(subjectView(subject));
}
