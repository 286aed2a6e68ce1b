import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseManifest } from "../../base/files/hashed-file.ts";
import type { ExportLanguage } from "../../connector/translation.ts";
import { historySuffix, type SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";
import type { ExportRequest } from "../plan/export-request.ts";
import type { DatedPeriod } from "../plan/period.ts";

/** What the manifest says of a table, in each of its files. */
export interface TableFacts {
  readonly table: string;
  readonly format: ExportRequest["format"];
  readonly language: ExportLanguage;
  /** The days that its rows are limited to, by this column; null: it has all rows. */
  readonly period: DatedPeriod | null;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** A hash of all that shapes it besides the rows: a file of another form is written again. */
  readonly form: string;
  /** Of a view that shows another thing on another day: the day of its rows. */
  readonly report_date?: string;
  /** What its export redacted, of any table: records hold parts of others. Absent: nothing. */
  readonly redacted?: readonly string[];
}

export interface ManifestFile extends TableFacts {
  /** Relative to the manifest. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The state of the mirror that the file shows. */
  readonly seq: number;
}

/** `manifest.json` of a company's folder, written after all files that it names. */
export interface ExportManifest {
  /** The log's identity. */
  readonly log: string;
  /** The last change in the files of this run. */
  readonly seq: number;
  /** What to give as `--since LOG:SEQ` next time. */
  readonly next_since: number;
  /** Of a `--since` run: its files hold what changed after this. */
  readonly since: number | null;
  readonly company: string;
  readonly created_at: string;
  /** Set where the files are of an earlier moment: its time, ISO. The position is `seq`. */
  readonly as_of?: string;
  /** The last finished run of `sync` before it. */
  readonly run: { readonly id: number; readonly outcome: string; readonly finished_at: string } | null;
  readonly files: readonly ManifestFile[];
}

const fileTexts = ["file", "table", "format", "sha256"] as const;

/** The manifest in this text; null if it is none. A damaged manifest is ignored: it protects no files. */
export function exportManifestIn(text: string | null): ExportManifest | null {
  return parseManifest<ExportManifest>(text, fileTexts) as ExportManifest | null;
}

export async function readManifest(file: string): Promise<ExportManifest | null> {
  return exportManifestIn(await readFile(file, "utf8").catch(() => null));
}

/**
 * The files of the last manifest that the next one keeps: those of other formats and, if only some tables are exported,
 * those of other tables; if all are, those of views and own tables. The history of a table is beside its own file. A
 * workbook is one file of several tables: only one of the same name is replaced.
 */
export function keptFiles(
  before: ExportManifest | null,
  { format, tables, history = false }: Pick<ExportRequest, "format" | "tables" | "history">,
  all: readonly SnapshotTable[],
  written: readonly ManifestFile[],
): ManifestFile[] {
  const replaced = new Set(written.map(({ file }) => file));
  const isAsked = ({ format: its, table }: ManifestFile) => {
    const name = table.replace(historySuffix, "");
    if (its !== format || (name !== table) !== history) return false;
    if (tables.length > 0) return format !== "xlsx" && tables.includes(name);
    return all.every((one) => one.name !== name || one.kind === "table" || one.kind === "child");
  };
  return (before?.files ?? []).filter((file) => !replaced.has(file.file) && !isAsked(file));
}

/**
 * Files that the last manifest names and the next one does not; relative to the manifest. A file outside of the
 * company's folders is left out: a forged manifest must not remove other files.
 */
export function removedFiles(before: ExportManifest | null, next: ExportManifest): string[] {
  const kept = new Set(next.files.map(({ file }) => file));
  const files = before?.files.map(({ file }) => file) ?? [];
  const own = [`${next.company}/`, `company=${next.company}/`];
  const isInside = (file: string) => own.some((folder) => belowOut(next.company, file).startsWith(folder));
  return files.filter((file) => !kept.has(file) && isInside(file));
}

/** The manifest's path below the export's folder. All paths here use `/`. */
export function manifestPath(company: string): string {
  return `${company}/manifest.json`;
}

/** Stands for NULL in Hive layouts: each file of a table has the same number of folders, as readers require. */
const noValue = "__HIVE_DEFAULT_PARTITION__";

/**
 * A file's path: `acme/invoices.csv`, `company=acme/invoices/year=2026/month=03/part-0.parquet`.
 *
 * @param part `2026`, `2026-03`, `` or `-` for rows without a date; null: the table is not partitioned
 */
export function filePath(
  { company, format, partition }: Pick<ExportRequest, "company" | "format" | "partition">,
  table: string,
  part: string | null,
): string {
  if (partition === null) return `${company}/${table}.${format}`;
  const values = part?.split("-") ?? [];
  const folders = values.map((value, at) => `${at === 0 ? "year" : "month"}=${value || noValue}`);
  return [`company=${company}`, table, ...folders, `part-0.${format}`].join("/");
}

/** The workbook of an export: named after its table when that is the only one, else after the company. */
export function workbookPath({
  company,
  tables: [only = company, ...more],
  history = false,
}: Pick<ExportRequest, "company" | "tables" | "history">): string {
  return `${company}/${more.length === 0 ? only : company}${history ? historySuffix : ""}.xlsx`;
}

/** A path below the export's folder as the manifest names it, relative to itself. */
export function fromManifest(company: string, file: string): string {
  return path.posix.relative(company, file);
}

/** The reverse of `fromManifest`. */
export function belowOut(company: string, file: string): string {
  return path.posix.normalize(`${company}/${file}`);
}
