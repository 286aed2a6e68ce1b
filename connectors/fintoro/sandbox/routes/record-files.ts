import { Zip, ZipPassThrough } from "fflate";
import { centsToNumber } from "../base/decimal-money.ts";
import { plainLetters } from "../base/values.ts";
import { totalsOf } from "../documents/balance.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { Document, Receipt } from "../model/records.ts";
import { receiptTotals } from "../collections/receipts.ts";

/** A document or a receipt as its receiver gets it. */
export function recordPdf(record: Document | Receipt): Buffer {
  const { number, issueDate } = record;
  const [title, lines, { net, gross }] =
    "kind" in record
      ? [texts[record.kind].title, record.items.map(({ name }) => name), totalsOf(record)]
      : ["Skladový doklad", record.lines.map(({ itemName }) => itemName), receiptTotals(record)];
  return pdfOf([
    `${title} ${number}`,
    `Dátum vystavenia: ${issueDate}`,
    ...lines,
    `Spolu bez DPH: ${centsToNumber(net)}`,
    `Spolu s DPH: ${centsToNumber(gross)}`,
  ]);
}

/** A real, small PDF of one page: lines of text in Helvetica, letters without their accents. */
function pdfOf(lines: readonly string[]): Buffer {
  const shown = lines.map(
    (line) => `(${plainLetters(line).replace(/[^\x20-\x7e]|[\\()]/gu, "?")}) Tj 0 -18 Td`,
  );
  const content = ["BT /F1 10 Tf 56 780 Td", ...shown, "ET"].join("\n");
  return assemble([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ]);
}

/** Objects from number 1, the table of their offsets, the trailer. */
function assemble(objects: readonly string[]): Buffer {
  let text = "%PDF-1.4\n";
  const offsets: string[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(`${String(text.length).padStart(10, "0")} 00000 n \n`);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
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
