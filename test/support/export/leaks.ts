import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { unzipSync } from "fflate";
import type { RedactRule } from "../../../src/store/snapshot/redaction.ts";
import type { Dict, Records } from "./recount.ts";

/** Emails and streets of clients, wherever records repeat them. */
export const clientRules: readonly RedactRule[] = [
  { columns: "clients.email", mode: "drop" },
  { columns: "*.client_email", mode: "drop" },
  { columns: "clients.street", mode: "hash" },
  { columns: "*.client_street", mode: "hash" },
];

/** Texts that only the columns of `clientRules` have. */
export function clientSecrets(records: Records): string[] {
  const clients = records.get("clients") as Dict[];
  const all = clients
    .flatMap(({ email, street }) => [email, street])
    .filter((one) => typeof one === "string");
  const others = JSON.stringify(records.get("suppliers")) + JSON.stringify(records.get("company"));
  return [...new Set(all)].filter((one) => one.length > 5 && !others.includes(one));
}

/** Those of the texts that a file, or a folder's files, have as bytes. A workbook is an archive of compressed parts. */
export function leaksIn(place: string, texts: readonly string[]): string[] {
  const files = statSync(place).isDirectory()
    ? readdirSync(place, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
    : [place];
  const bytes = files.flatMap((file) => {
    const content = readFileSync(file);
    return file.endsWith(".xlsx")
      ? Object.values(unzipSync(content)).map((part) => Buffer.from(part))
      : [content];
  });
  return texts.filter((text) => bytes.some((each) => each.includes(text)));
}
