import path from "node:path";
import type { Format } from "./formats.ts";

/** Paths below the export's folder, with `/`, as the contract has them. */
export function manifestPath(company: string): string {
  return `${company}/manifest.json`;
}

export interface FilePlace {
  readonly company: string;
  readonly table: string;
  readonly format: Format;
  /** `2026`, `2026-03`, empty for rows without a date; null: the table has no parts. */
  readonly part: string | null;
  /** Is the whole export laid out in parts? */
  readonly hive: boolean;
}

/** `acme/invoices.csv`, `company=acme/invoices/year=2026/month=03/part-0.parquet`. */
export function filePath({ company, table, format, part, hive }: FilePlace): string {
  if (!hive) return `${company}/${table}.${format}`;
  const folders = part === null ? [] : partFolders(part);
  return [`company=${company}`, table, ...folders, `part-0.${format}`].join("/");
}

/** What every reader of hive layouts takes for NULL. */
const noValue = "__HIVE_DEFAULT_PARTITION__";

function partFolders(part: string): string[] {
  if (part === "") return [`year=${noValue}`];
  const [year, month] = part.split("-");
  return [`year=${year}`, ...(month === undefined ? [] : [`month=${month}`])];
}

/** A file as the manifest names it. */
export function fromManifest(company: string, file: string): string {
  return path.posix.relative(company, file);
}

export function belowOut(company: string, file: string): string {
  return path.posix.normalize(`${company}/${file}`);
}
