import { Zip, ZipPassThrough } from "fflate";
import { centsToNumber } from "../base/decimal-money.ts";
import { totalsOf } from "../domain/documents/totals.ts";
import { currencyById } from "../lookups/currencies.ts";
import type { Document } from "../model/company-records.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { Receipt } from "../model/warehouse-records.ts";
import { lineCents } from "./stock-view.ts";

/** A document as its receiver gets it. */
export function documentPdf(document: Document): Buffer {
  const { net, gross, items } = totalsOf(document);
  const currency = currencyById(document.currencyId)?.symbol ?? "";
  return pdfOf(`${texts[document.kind].title} ${document.number}`, [
    `Dodávateľ: ${document.company.name}, IČO ${document.company.subjectId}`,
    `Odberateľ: ${document.client.name}`,
    `Dátum vystavenia: ${document.issueDate}`,
    ...document.items.map(
      (item, i) =>
        `${item.name}   ${item.quantity} x ${item.unitPrice}   ${centsToNumber(items[i]?.net ?? 0n)}`,
    ),
    `Spolu bez DPH: ${centsToNumber(net)} ${currency}`,
    `Spolu s DPH: ${centsToNumber(gross)} ${currency}`,
  ]);
}

/** A receipt of a warehouse. */
export function receiptPdf(receipt: Receipt): Buffer {
  const gross = receipt.lines.reduce((sum, line) => sum + lineCents(line).gross, 0n);
  return pdfOf(`Skladový doklad ${receipt.number}`, [
    `Dátum: ${receipt.issueDate}`,
    ...receipt.lines.map((line) => `${line.itemName}   ${line.quantity} x ${line.unitPrice}`),
    `Spolu s DPH: ${centsToNumber(gross)} EUR`,
  ]);
}

/** A real, small PDF of one page: lines of text in Helvetica, letters without their accents. */
function pdfOf(title: string, lines: readonly string[]): Buffer {
  const content = [
    "BT",
    "/F1 16 Tf",
    "56 780 Td",
    `(${escaped(title)}) Tj`,
    "/F1 10 Tf",
    ...lines.flatMap((line) => ["0 -18 Td", `(${escaped(line)}) Tj`]),
    "ET",
  ].join("\n");
  return assemble([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${Buffer.byteLength(content, "latin1")} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ]);
}

/** Objects from number 1, the table of their offsets, the trailer. */
function assemble(objects: readonly string[]): Buffer {
  let text = "%PDF-1.4\n";
  const offsets: number[] = [];
  objects.forEach((object, index) => {
    offsets.push(text.length);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  });
  const start = text.length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

/** ASCII only: accents dropped, anything else unknown becomes `?`; brackets and backslashes escaped. */
function escaped(text: string): string {
  const plain = text
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .replaceAll("€", "EUR")
    .replace(/[–—]/g, "-")
    .replace(/\s+/g, " ")
    .replace(/[^\x20-\x7e]/gu, "?");
  return plain.replace(/[\\()]/g, (char) => `\\${char}`);
}

interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
  readonly atMs: number;
}

/** A ZIP archive of uncompressed entries, whose names may be equal. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const parts: Uint8Array[] = [];
  const zip = new Zip((error, part) => {
    if (error) throw error;
    parts.push(part);
  });
  for (const { name, content, atMs } of entries) {
    const file = new ZipPassThrough(name);
    file.mtime = atMs;
    zip.add(file);
    file.push(content, true);
  }
  zip.end();
  return Buffer.concat(parts);
}
