import { Zip, ZipPassThrough } from "fflate";
import { centsToNumber } from "../base/decimal-money.ts";
import { plainLetters } from "../base/values.ts";
import type { BookRow } from "../model/company.ts";
import texts from "../model/document-texts.json" with { type: "json" };
import frame from "../samples/pdf-frame.json" with { type: "json" };
import { totalsOf } from "./balance.ts";

/** A document or a receipt as its receiver gets it: a real, small PDF of one page, letters without their accents. */
export function recordPdf(record: BookRow): Buffer {
  const { kind, number, issueDate, items } = record;
  const isDocument = "kind" in record;
  const { net, gross } = totalsOf(record);
  const lines = [
    `${isDocument ? texts[kind].title : "Skladový doklad"} ${number}`,
    `Dátum vystavenia: ${issueDate}`,
    ...items.map(({ name, itemName }) => (isDocument ? name : itemName)),
    `Spolu bez DPH: ${centsToNumber(net)}`,
    `Spolu s DPH: ${centsToNumber(gross)}`,
  ].map((line) => `(${plainLetters(line).replace(/[^\x20-\x7e]|[\\()]/gu, "?")}) Tj 0 -18 Td`);
  const text = ["BT /F1 10 Tf 56 780 Td", ...lines, "ET"].join("\n");
  const content = `5 0 obj\n<< /Length ${text.length} >>\nstream\n${text}\nendstream\nendobj\n`;
  const { objects, crossReference } = frame;
  const start = objects.length + content.length;
  return Buffer.from(`${objects}${content}${crossReference}${start}\n%%EOF\n`, "latin1");
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
