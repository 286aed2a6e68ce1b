import { hash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { hashOf } from "../../base/files/hashed-file.ts";
import type { Config, ExportConfig } from "../../config/config.ts";
import { mirrorFiles, type MirrorFiles } from "../../config/mirror-files.ts";
import type { ReportQuestion } from "../../connector/report-view.ts";
import { readManifest, type ManifestFile } from "../../export/files/export-manifest.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import { readSteps, recordStep, reportStep, stepsOf } from "../../status/after-run-record.ts";
import { writeRight, type Ownership } from "../ownership/ownership.ts";
import { runMirrorTask } from "../snapshot/mirror-tasks.ts";
import type { ReportFile, ReportFiles, ReportRow, ReportsTable } from "../postgres/tables/reports-table.ts";

/** A file on this node that is to be stored under a key. */
interface MadeFile extends ReportFile {
  readonly content: string;
  readonly key: string;
  readonly file: string;
}

/**
 * A config by which a node makes what the fleet publishes: also Parquet files of all tables, which are made again only
 * when the mirror has changed. Where the fleet publishes none, nothing is made.
 */
export function withReports(config: Config, company: string, isPublished: boolean): Config {
  if (!isPublished) return { ...config, schedule: { ...config.schedule, publish: null } };
  const { parquetFolder } = mirrorFiles(config, company);
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
 * Stores the report and the Parquet files that this node has made of a company where readers of all companies find
 * them, and removes those of tables that are there no more. Gives null where nothing has changed.
 *
 * Guarantee: each file is replaced at once, by the company's owner only. Where the table `reports` has a hash, the
 * store holds that content: what is about to change loses its hash first.
 * Source of truth: the mirror, of which all of it can be made again.
 * Worst outcome of a crash: some files are newer than others until the next publication, which replaces all without a
 * hash.
 *
 * @throws MirrorError `locked` once the ownership is lost, `stopped`, `database`, and those of the store
 */
export async function publishReports(
  ownership: Ownership,
  schedule: Pick<Config["schedule"], "publish">,
  files: MirrorFiles,
  store: FileStore,
  reports: Pick<ReportsTable, "begin" | "current" | "publish">,
  signal: AbortSignal,
  questions: readonly ReportQuestion[] = [],
) {
  const { company, epoch, node } = ownership;
  const owner = { company, epoch, node };
  const withReport = schedule.publish !== null;
  const made = await findMadeReport(company, files, withReport);
  const before = await reports.current(company);
  const known = before?.files ?? {};
  const seq = made.seq ?? before?.seq;
  if (seq === undefined) return null;
  const changed = made.files.filter(({ key, content }) => known[key]?.content !== content);
  // What this node has not made yet stays as it is.
  const isKept = (key: string) => (key === reportKey(company) ? withReport : made.seq === null);
  const kept: ReportFiles = Object.fromEntries([
    ...Object.entries(known).filter(([key]) => isKept(key)),
    ...made.files.map(
      ({ key, content, bytes, seq: ofFile }) => [key, { content, bytes, seq: ofFile }] as const,
    ),
  ]);
  const gone = Object.keys(known).filter((key) => !Object.hasOwn(kept, key));
  if (before?.seq === seq && isDeepStrictEqual(known, kept)) return null;
  const right = writeRight(ownership, signal);
  right.assertHeld();
  const written = changed.map(({ key }) => key);
  if (before) await reports.begin(owner, withoutHashes(known, [...written, ...gone]));
  for (const { key, file } of changed) await store.put(key, file, right);
  for (const key of gone) await store.remove(key, right);
  const isNew = written.includes(reportKey(company));
  const answers = isNew ? await askReport(files.report, questions, signal) : (before?.answers ?? null);
  right.assertHeld();
  await reports.publish(owner, { seq, files: kept, answers: withReport ? answers : null });
  return { seq, written, removed: gone, bytes: changed.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** What a report's questions say that concern everybody, by name. In a thread: views take their time. */
async function askReport(report: string, questions: readonly ReportQuestion[], signal: AbortSignal) {
  const asked = questions.flatMap(({ name, sql, inStatus }) => (inStatus ? [{ name, sql, inStatus }] : []));
  if (asked.length === 0) return {};
  type Row = Parameters<(typeof asked)[number]["inStatus"]>[0];
  const task = { kind: "ask", report, queries: asked.map(({ sql }) => sql) } as const;
  const rows = await runMirrorTask<readonly Row[]>(task, signal);
  const said = asked.flatMap(({ name, inStatus }, at) => {
    const sentence = inStatus(rows[at] ?? {});
    return sentence === null ? [] : [[name, sentence]];
  });
  return Object.fromEntries(said) as Record<string, string>;
}

function withoutHashes(files: ReportFiles, keys: readonly string[]): ReportFiles {
  const unknown = keys.map((key) => [key, { bytes: 0, seq: 0, ...files[key], content: null }] as const);
  return { ...files, ...Object.fromEntries(unknown) };
}

/** Finds what this node has made of a company: the report, and Parquet files as their manifest names them. */
async function findMadeReport(company: string, files: MirrorFiles, withReport: boolean) {
  const manifest = await readManifest(path.join(files.parquetFolder, "manifest.json"));
  const report = withReport ? await findReportFile(company, files) : null;
  const made: MadeFile[] = report ? [report] : [];
  for (const { table, file: name, bytes, columns } of manifest?.files ?? []) {
    const key = `parquet/${table}/company=${company}/data.parquet`;
    const file = path.join(files.parquetFolder, name);
    made.push({ key, file, bytes, content: await rowsHash(file, columns), seq: manifest?.seq ?? 0 });
  }
  return { seq: manifest?.seq ?? null, files: made };
}

/** Null: this node has not made it yet. */
async function findReportFile(company: string, { report, afterRun }: MirrorFiles): Promise<MadeFile | null> {
  if (!existsSync(report)) return null;
  const { size_bytes: bytes, sha256: content } = await hashOf(report);
  const seq = readSteps(afterRun)[reportStep]?.seq ?? 0;
  return { key: reportKey(company), file: report, bytes, content, seq };
}

/**
 * Records what is published as what was made here last, so that what is due is judged by it. What was cut off counts as
 * never made.
 */
export function notePublished(config: Config, company: string, published: ReportRow | null): void {
  const { afterRun } = mirrorFiles(config, company);
  rmSync(afterRun, { force: true });
  const files = published?.files ?? {};
  if (!published || Object.values(files).some(({ content }) => content === null)) return;
  const { publishedAtMs: startedMs, seq: parquetSeq } = published;
  for (const step of stepsOf(config)) {
    const seq = step === reportStep ? (files[reportKey(company)]?.seq ?? null) : parquetSeq;
    const result = { outcome: "written", error: null, seq } as const;
    if (seq !== null) recordStep(afterRun, step, result, { startedMs, endedMs: startedMs });
  }
}

/** Records that what was made here could not be published: the report is made and published again. */
export function noteUnpublished(config: Config, company: string, error: string, nowMs: number): void {
  const times = { startedMs: nowMs, endedMs: nowMs };
  const { afterRun } = mirrorFiles(config, company);
  for (const step of stepsOf(config))
    recordStep(afterRun, step, { outcome: "failed", error, seq: null }, times);
}

/** Under which the report is stored. */
function reportKey(company: string): string {
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
