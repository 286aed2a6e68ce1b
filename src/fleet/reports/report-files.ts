import { hash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import type { Config, ExportConfig } from "../../config/config.ts";
import type { MirrorFiles } from "../../config/mirror-files.ts";
import { readManifest, type ManifestFile } from "../../export/files/export-manifest.ts";
import { hashOf } from "../../files/content-hash.ts";
import type { ReportFile } from "../postgres/tables/reports-table.ts";

/** A file on this node that is to be stored under a key. */
export interface MadeFile extends ReportFile {
  readonly content: string;
  readonly key: string;
  readonly file: string;
}

/** What was made locally of one state of the mirror. */
export interface MadeReport {
  /** Of the last change in the Parquet files. */
  readonly seq: number;
  readonly files: readonly MadeFile[];
}

/**
 * A config by which what follows a run also makes Parquet files of all tables, for the reports of the fleet. They are
 * made again only when the mirror has changed.
 */
export function withReportExport(config: Config, { parquetFolder }: MirrorFiles): Config {
  const parquet: ExportConfig = {
    format: "parquet",
    out: path.dirname(parquetFolder),
    to: null,
    after: "sync",
    dialect: "standard",
    language: "en",
    tables: null,
    partitionBy: null,
    month: null,
    nested: false,
  };
  return { ...config, exports: [...config.exports, parquet] };
}

/**
 * Finds what this node has made of a company: Parquet files as their manifest names them, and the report. Null: it has
 * not made the Parquet files yet.
 */
export async function findMadeReport(
  company: string,
  files: MirrorFiles,
  withReport: boolean,
): Promise<MadeReport | null> {
  const manifest = await readManifest(path.join(files.parquetFolder, "manifest.json"));
  if (!manifest) return null;
  const made: MadeFile[] = [];
  for (const { table, file: name, bytes, columns } of manifest.files) {
    const key = `parquet/${table}/company=${company}/data.parquet`;
    const file = path.join(files.parquetFolder, name);
    made.push({ key, file, bytes, content: await rowsHash(file, columns) });
  }
  const report = withReport ? await findReportFile(company, files) : null;
  return { seq: manifest.seq, files: report ? [report, ...made] : made };
}

/** Null: this node has not made it yet. */
async function findReportFile(company: string, { report }: MirrorFiles): Promise<MadeFile | null> {
  if (!existsSync(report)) return null;
  const { size_bytes: bytes, sha256: content } = await hashOf(createReadStream(report));
  return { key: reportKey(company), file: report, bytes, content };
}

/** Under which the report is stored. */
export function reportKey(company: string): string {
  return `report/${company}.report.db`;
}

/** Behind the footer stand its length and the last four letters of the format. */
const tailBytes = 8;

/**
 * A hash of a Parquet file's rows and columns. Its footer also names the state of the mirror, with which files of tables
 * that did not change would differ after each run.
 */
async function rowsHash(file: string, columns: ManifestFile["columns"]): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const tail = Buffer.alloc(tailBytes);
    await handle.read(tail, 0, tailBytes, size - tailBytes);
    const rowsEnd = size - tailBytes - tail.readUInt32LE();
    const rows = await hashOf(handle.createReadStream({ start: 0, end: rowsEnd - 1, autoClose: false }));
    return hash("sha256", JSON.stringify([rows, columns]));
  } finally {
    await handle.close();
  }
}
