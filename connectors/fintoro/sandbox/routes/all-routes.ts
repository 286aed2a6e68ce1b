import type { RecordOf } from "../domain/company-state.ts";
import { collections, documentKinds, documentTable, type DocumentTable } from "../model/catalogue.ts";
import type { ActivityLog } from "../model/company-records.ts";
import { creditInvoice } from "../domain/documents/writes.ts";
import { sendMail } from "../domain/documents/payment-rules.ts";
import { keepUpload } from "../domain/crm/activities.ts";
import { rotateSecret } from "../domain/settings-writes.ts";
import { file, list, nothing, oneRecord, value, type Answer } from "../http/service-answer.ts";
import { lookupList, lookupNames } from "../lookups/lookup-lists.ts";
import { Missing, refuse } from "../rules/problems.ts";
import { documentView } from "../view/document-view.ts";
import { documentPdf, receiptPdf, zipOf } from "../view/record-files.ts";
import { seriesView } from "../view/settings-view.ts";
import { listSeries, listSubjects, showSubject } from "./record-lists.ts";
import { recordAt, recordRoutes, viewWithSecret } from "./record-routes.ts";
import { change, get, type Call, type Route } from "./router.ts";

/** Every route of the API. */
export function allRoutes(): Route[] {
  return [
    get("/whoami", ({ company }) => oneRecord({ name: company.settings.name })),
    ...lookupNames.map((name) => get(`/${name}`, ({ language }) => list(lookupList(name, language)))),
    get("/numerical-series", listSeries),
    get("/numerical-series/{id}", (call) =>
      oneRecord(seriesView(call.company, recordAt(call, "numerical_series"))),
    ),
    get("/subjects", listSubjects),
    get("/subjects/{id}", showSubject),
    ...recordRoutes(),
    ...fileRoutes(),
    change("POST", "/invoices/{id}/credit-notes", credit),
    change("POST", "/document-mails", ({ company, input }) => {
      sendMail(company, input);
      return nothing(202);
    }),
    change("POST", "/webhook-subscriptions/{id}/rotate-secret", rotate, false),
    change("POST", "/contact-activity-attachments", upload, false),
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

/** PDFs of documents and receipts, ZIPs of attachments. */
function fileRoutes(): Route[] {
  return [
    ...documentKinds.map((kind) => pdfRoute(documentTable[kind], documentPdf)),
    pdfRoute("warehouse_inbound_receipts", receiptPdf),
    pdfRoute("warehouse_outbound_receipts", receiptPdf),
    get("/contact-activity-logs/{id}/attachments", (call) =>
      attachmentsZip(recordAt(call, "contact_activity_logs")),
    ),
  ];
}

function pdfRoute<K extends NumberedTable>(table: K, pdfOf: (own: RecordOf<K>) => Buffer): Route {
  return get(`/${collections[table].path}/{id}/pdf`, (call) => {
    const own = recordAt(call, table);
    return file("application/pdf", `${own.number}.pdf`, pdfOf(own));
  });
}

type NumberedTable = DocumentTable | "warehouse_inbound_receipts" | "warehouse_outbound_receipts";

function attachmentsZip({ id, attachments, createdAtMs: atMs }: ActivityLog): Answer {
  if (attachments.length === 0) throw new Missing();
  const entries = attachments.map(({ name, content }) => ({ name, content, atMs }));
  return file("application/zip", `attachments-${id}.zip`, zipOf(entries));
}
