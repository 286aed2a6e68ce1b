import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { appendToManifest, emptyPosition } from "../../../src/files/archive-manifest.ts";
import { manifestName, objectPath } from "../../../src/files/archive.ts";

/** Stores a PDF in a company's empty folder of files, as a fetch does. Gives its path under the name that people read. */
export function storePdf(folder: string, text = "%PDF"): string {
  const [sha256, name] = [hash("sha256", text), "2026/01/invoices/1.pdf"];
  const object = path.join(folder, objectPath(sha256));
  mkdirSync(path.dirname(object), { recursive: true });
  writeFileSync(object, text);
  const of = { document: "invoices", document_id: 1, kind: "pdf", record: sha256 } as const;
  const line = { ...of, path: name, size_bytes: text.length, sha256, at: "2026-01-01T00:00:00.000Z" };
  appendToManifest(path.join(folder, manifestName), emptyPosition, [line]);
  return path.join(folder, name);
}
