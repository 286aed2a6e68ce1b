import { amount } from "../../base/decimal-money.ts";
import { totalsOf } from "../../domain/documents/document-totals.ts";
import { pdfOf } from "../../files/pdf.ts";
import { zipOf } from "../../files/zip.ts";
import { currencyById } from "../../lookups/currencies.ts";
import { collections, documentKinds, documentTable } from "../../model/catalogue.ts";
import type { Document, DocumentKind } from "../../model/company-records.ts";
import type { Receipt } from "../../model/warehouse-records.ts";
import { Missing } from "../../rules/refusals.ts";
import { lineCents } from "../../view/stock-view.ts";
import { file, type Answer } from "../answer.ts";
import type { Route } from "../route.ts";
import { documentAt, named } from "./reading.ts";

/** PDFs of documents and receipts, ZIPs of attachments. */
export function fileRoutes(): Route[] {
  return [
    ...documentKinds.map((kind): Route => ({
      method: "GET",
      path: `/${collections[documentTable[kind]].path}/{id}/pdf`,
      scope: "read",
      handle: (call) => documentPdf(documentAt(call, kind)),
    })),
    {
      method: "GET",
      path: "/warehouse-inbound-receipts/{id}/pdf",
      scope: "read",
      handle: (call) => receiptPdf(named(call, "warehouse_inbound_receipts")),
    },
    {
      method: "GET",
      path: "/warehouse-outbound-receipts/{id}/pdf",
      scope: "read",
      handle: (call) => receiptPdf(named(call, "warehouse_outbound_receipts")),
    },
    {
      method: "GET",
      path: "/contact-activity-logs/{id}/attachments",
      scope: "read",
      handle: (call) => {
        const log = named(call, "contact_activity_logs");
        if (log.attachments.length === 0) throw new Missing();
        const entries = log.attachments.map(({ name, content }) => ({
          name,
          content,
          atMs: log.createdAtMs,
        }));
        return file("application/zip", `attachments-${log.id}.zip`, zipOf(entries));
      },
    },
  ];
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
  const lines = document.items.map(
    (item, i) => `${item.name}   ${item.quantity} x ${item.unitPrice}   ${amount(items[i]?.net ?? 0n)}`,
  );
  const content = pdfOf(`${titles[document.kind]} ${document.number}`, [
    `Dodávateľ: ${document.company.name}, IČO ${document.company.subjectId}`,
    `Odberateľ: ${document.client.name}`,
    `Dátum vystavenia: ${document.issueDate}`,
    ...lines,
    `Spolu bez DPH: ${amount(net)} ${currency}`,
    `Spolu s DPH: ${amount(gross)} ${currency}`,
  ]);
  return file("application/pdf", `${document.number}.pdf`, content);
}

function receiptPdf(receipt: Receipt): Answer {
  const gross = receipt.lines.reduce((sum, line) => sum + lineCents(line).gross, 0n);
  const lines = receipt.lines.map((line) => `${line.itemName}   ${line.quantity} x ${line.unitPrice}`);
  const content = pdfOf(`Skladový doklad ${receipt.number}`, [
    `Dátum: ${receipt.issueDate}`,
    ...lines,
    `Spolu s DPH: ${amount(gross)} EUR`,
  ]);
  return file("application/pdf", `${receipt.number}.pdf`, content);
}
