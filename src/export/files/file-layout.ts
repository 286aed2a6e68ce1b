import path from "node:path";
import type { Format, Partition } from "../plan/formats.ts";

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
  /** How the whole export is laid out in parts; null: it is not. */
  readonly partition: Partition | null;
}

/** `acme/invoices.csv`, `company=acme/invoices/year=2026/month=03/part-0.parquet`. */
export function filePath({ company, table, format, part, partition }: FilePlace): string {
  if (partition === null) return `${company}/${table}.${format}`;
  const folders = part === null ? [] : partFolders(part, partition);
  return [`company=${company}`, table, ...folders, `part-0.${format}`].join("/");
}

/** What every reader of hive layouts takes for NULL. */
const noValue = "__HIVE_DEFAULT_PARTITION__";

/** As many folders for every part: readers refuse a layout whose depth differs. */
function partFolders(part: string, partition: Partition): string[] {
  const [year, month] = part === "" ? [noValue, noValue] : part.split("-");
  return partition === "year" ? [`year=${year}`] : [`year=${year}`, `month=${month}`];
}

/** A file as the manifest names it. */
export function fromManifest(company: string, file: string): string {
  return path.posix.relative(company, file);
}

export function belowOut(company: string, file: string): string {
  return path.posix.normalize(`${company}/${file}`);
}

/** A manifest that somebody else wrote makes nothing else disappear. */
export function isInside(company: string, file: string): boolean {
  return file.startsWith(`${company}/`) || file.startsWith(`company=${company}/`);
}
