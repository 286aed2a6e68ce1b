import path from "node:path";
import type { ExportRequest, Partition } from "../plan/export-request.ts";

/** The manifest's path below the export's folder. All paths here use `/`. */
export function manifestPath(company: string): string {
  return `${company}/manifest.json`;
}

/**
 * A file's path: `acme/invoices.csv`, `company=acme/invoices/year=2026/month=03/part-0.parquet`.
 *
 * @param part `2026`, `2026-03`, empty for rows without a date; null: the table is not partitioned
 */
export function filePath(
  { company, format, partition }: Pick<ExportRequest, "company" | "format" | "partition">,
  table: string,
  part: string | null,
): string {
  if (partition === null) return `${company}/${table}.${format}`;
  const folders = part === null ? [] : partFolders(part, partition);
  return [`company=${company}`, table, ...folders, `part-0.${format}`].join("/");
}

/** The workbook of an export: named after its table when that is the only one, else after the company. */
export function workbookPath({ company, tables }: Pick<ExportRequest, "company" | "tables">): string {
  const [only, ...more] = tables;
  return `${company}/${only !== undefined && more.length === 0 ? only : company}.xlsx`;
}

/** Stands for NULL in Hive layouts. */
const noValue = "__HIVE_DEFAULT_PARTITION__";

/** Every part has the same number of folders, as readers require. */
function partFolders(part: string, partition: Partition): string[] {
  const [year, month] = part === "" ? [noValue, noValue] : part.split("-");
  return partition === "year" ? [`year=${year}`] : [`year=${year}`, `month=${month}`];
}

/** A path below the export's folder as the manifest names it, relative to itself. */
export function fromManifest(company: string, file: string): string {
  return path.posix.relative(company, file);
}

/** The reverse of `fromManifest`. */
export function belowOut(company: string, file: string): string {
  return path.posix.normalize(`${company}/${file}`);
}
