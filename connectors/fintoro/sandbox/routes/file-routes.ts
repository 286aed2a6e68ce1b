import { amount } from "../base/decimal-money.ts";
import { totalsOf } from "../domain/documents/document-totals.ts";
import { pdfOf } from "../files/pdf.ts";
import { zipOf } from "../files/zip.ts";
import { file, type Answer } from "../http/answer.ts";
import { currencyById } from "../lookups/currencies.ts";
import { collections, documentKinds, documentTable } from "../model/catalogue.ts";
import type { ActivityLog, Document, DocumentKind } from "../model/company-records.ts";
import type { Receipt } from "../model/warehouse-records.ts";
import { Missing } from "../rules/refusals.ts";
import { lineCents } from "../view/stock-view.ts";
import { recordAt } from "./record-routes.ts";
import { get, type Route } from "./router.ts";

/** PDFs of documents and receipts, ZIPs of attachments. */
export function fileRoutes(): Route[] {
  const receipts = ["warehouse_inbound_receipts", "warehouse_outbound_receipts"] as const;
  return [
    ...documentKinds.map((kind) => {
      const table = documentTable[kind] as "invoices";
      return get(`/${collections[table].path}/{id}/pdf`, (call) => documentPdf(recordAt(call, table)));
    }),
    ...receipts.map((table) =>
      get(`/${collections[table].path}/{id}/pdf`, (call) => receiptPdf(recordAt(call, table))),
    ),
    get("/contact-activity-logs/{id}/attachments", (call) =>
      attachmentsZip(recordAt(call, "contact_activity_logs")),
    ),
  ];
}

function attachmentsZip({ id, attachments, createdAtMs: atMs }: ActivityLog): Answer {
  if (attachments.length === 0) throw new Missing();
  const entries = attachments.map(({ name, content }) => ({ name, content, atMs }));
  return file("application/zip", `attachments-${id}.zip`, zipOf(entries));
}

const titles: Readonly<Record<DocumentKind, string>> = {
  invoice: "Faktúra",
  "credit-note": "Dobropis",
  proforma: "Zálohová faktúra",
  order: "Objednávka",
  quotation: "Cenová ponuka",
};

function documentPdf(document: Document): Answer {
  const { net, gross, items } = totalsOf(document);
  const currency = currencyById(document.currencyId)?.symbol ?? "";
  const content = pdfOf(`${titles[document.kind]} ${document.number}`, [
    `Dodávateľ: ${document.company.name}, IČO ${document.company.subjectId}`,
    `Odberateľ: ${document.client.name}`,
    `Dátum vystavenia: ${document.issueDate}`,
    ...document.items.map(
      (item, i) => `${item.name}   ${item.quantity} x ${item.unitPrice}   ${amount(items[i]?.net ?? 0n)}`,
    ),
    `Spolu bez DPH: ${amount(net)} ${currency}`,
    `Spolu s DPH: ${amount(gross)} ${currency}`,
  ]);
  return file("application/pdf", `${document.number}.pdf`, content);
}

function receiptPdf(receipt: Receipt): Answer {
  const gross = receipt.lines.reduce((sum, line) => sum + lineCents(line).gross, 0n);
  const content = pdfOf(`Skladový doklad ${receipt.number}`, [
    `Dátum: ${receipt.issueDate}`,
    ...receipt.lines.map((line) => `${line.itemName}   ${line.quantity} x ${line.unitPrice}`),
    `Spolu s DPH: ${amount(gross)} EUR`,
  ]);
  return file("application/pdf", `${receipt.number}.pdf`, content);
}
