import { Zip, ZipPassThrough } from "fflate";
import { centsToNumber } from "../base/decimal-money.ts";
import { plainLetters } from "../base/values.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import type { BookRow } from "../model/rows.ts";
import { totalsOf } from "./balance.ts";

/** A document or a receipt as its receiver gets it: a real, small PDF of one page, letters without their accents. */
export function recordPdf(record: BookRow): Buffer {
  const { kind, number, issueDate, items } = record;
  const { net, gross } = totalsOf(record);
  const lines = [
    `${"kind" in record ? texts[kind].title : "Skladový doklad"} ${number}`,
    `Dátum vystavenia: ${issueDate}`,
    ...items.map(({ name, itemName }) => name ?? itemName ?? ""),
    `Spolu bez DPH: ${centsToNumber(net)}`,
    `Spolu s DPH: ${centsToNumber(gross)}`,
  ].map((line) => `(${plainLetters(line).replace(/[^\x20-\x7e]|[\\()]/gu, "?")}) Tj 0 -18 Td`);
  const content = ["BT /F1 10 Tf 56 780 Td", ...lines, "ET"].join("\n");
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

/** A ZIP archive of uncompressed entries, whose names may be equal. */
export function zipOf(
  entries: readonly { readonly name: string; readonly content: Buffer; readonly atMs: number }[],
): Buffer {
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
