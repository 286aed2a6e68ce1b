import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { hashOf } from "../../base/files/hashed-file.ts";
import type { Config } from "../../config/config.ts";
import { exportEntry } from "../../config/export-section.ts";
import { mirrorFiles, type CompanySettings, type MirrorFiles } from "../../store/mirror-files.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { ReportQuestion } from "../../connector/report-view.ts";
import { readManifest } from "../../export/files/export-manifest.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import { tablesOfConnector } from "../../store/snapshot/snapshot-tables.ts";
import { exportStep, readSteps, recordStep, reportStep } from "../../status/after-run-record.ts";
import { writeRight, type Ownership } from "../ownership/ownership.ts";
import { unsentExports } from "./send-exports.ts";
import { runMirrorTask } from "../snapshot/mirror-snapshots.ts";
import type { RowOf } from "../postgres/fleet-database.ts";
import type { ReportsTable } from "../postgres/tables/reports-table.ts";

type StoredFile = RowOf<"reports">["files"][number];

/** A file on this node, and what its name in the store is in a publication. */
interface MadeFile extends Omit<StoredFile, "key" | "number"> {
  readonly file: string;
  readonly keyIn: (publication: string) => string;
}

/** The name of the report database among the files of a company. */
export const reportName = "report.db";

/**
 * A config by which a node makes what the fleet publishes: also Parquet files of all tables and views, and exports that
 * are sent. Where the fleet publishes no reports, these alone are made.
 *
 * @param declaration of the company's connector; null: the fleet publishes none
 */
export function withReports(
  config: Config,
  company: string,
  declaration: ConnectorDeclaration | null,
): Config {
  const sent = unsentExports(config, company);
  if (!declaration) return { ...config, exports: sent, schedule: { ...config.schedule, publish: null } };
  const out = path.dirname(mirrorFiles(config, company).parquetFolder);
  const tables = tablesOfConnector(declaration).map(({ name }) => name);
  const parquet = exportEntry({ folder: out }).parse({ format: "parquet", out, after: "sync", tables });
  return { ...config, exports: [...sent, parquet] };
}

/**
 * Stores what is new of the report and the Parquet files that this node has made of a company where readers of all
 * companies find them, and says which files count: for readers of the store in one small file, the pointer, for those of
 * Postgres in the company's row. Gives null where nothing has changed.
 *
 * Guarantee: a name never comes twice, so no file changes its content. What counts changes at once, by the company's
 * owner only; what counts no more stays for a day, and is removed after the pointer was written again.
 * Source of truth: table `reports`; of the content the mirror, of which all of it can be made again.
 * Worst outcome of a crash: files that nobody counts, which the row names before they are stored: they are removed after
 * a day.
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
  const { company, epoch } = ownership;
  const withReport = schedule.publish !== null;
  const made = await findMadeFiles(company, files, withReport);
  const before = await reports.current(company);
  const { files: known, old, due } = before ?? { files: [], old: [], due: [] };
  const seq = made.seq ?? before?.seq ?? null;
  if (seq === null) return null;
  const number = (before?.number ?? 0) + 1;
  const found = made.files.map(({ file, keyIn, ...facts }) => {
    const same = known.find(({ name, content }) => name === facts.name && content === facts.content);
    const stored = same ?? { ...facts, key: keyIn(`${epoch}-${number}`), number };
    return { file, isNew: !same, stored: { ...stored, seq: facts.seq } };
  });
  // What this node has not made yet stays as it is.
  const isKept = ({ name }: StoredFile) => (name === reportName ? withReport : made.seq === null);
  const kept = known.filter((one) => isKept(one) && !found.some(({ stored }) => stored.name === one.name));
  const counting = [...kept, ...found.map(({ stored }) => stored)].toSorted((a, b) =>
    a.key < b.key ? -1 : 1,
  );
  if (due.length === 0 && before?.seq === seq && isDeepStrictEqual(known, counting)) return null;
  const put = found.filter(({ isNew }) => isNew);
  const isAsked = put.some(({ stored }) => stored.name === reportName);
  const answers = isAsked ? await askReport(files.report, questions, signal) : (before?.answers ?? null);
  const right = writeRight(ownership, signal);
  right.assertHeld();
  const written = put.map(({ stored }) => stored.key);
  await reports.begin(ownership, number, written);
  for (const { file, stored } of put) await store.put(stored.key, file, right);
  await store.put(`pointers/${company}.json`, pointerTo(company, counting), right);
  for (const key of due) await store.remove(key, right);
  right.assertHeld();
  const others = new Set([...counting.map(({ key }) => key), ...due]);
  const left = [...old, ...known.map(({ key }) => key)].filter((key) => !others.has(key));
  await reports.publish(ownership, { seq, files: counting, answers: withReport ? answers : null, old: left });
  return { seq, written, removed: due, bytes: put.reduce((sum, { stored }) => sum + stored.bytes, 0) };
}

/** By which readers of the store find all files that count together: a row for each. */
function pointerTo(company: string, files: readonly StoredFile[]): Uint8Array {
  const shown = files.map(({ name, key, rows, bytes, seq }) => ({ company, name, key, rows, bytes, seq }));
  return Buffer.from(`${JSON.stringify(shown)}\n`);
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

/** Finds what this node has made of a company: the report, and Parquet files as their manifest names them. */
async function findMadeFiles(company: string, files: MirrorFiles, withReport: boolean) {
  const manifest = await readManifest(path.join(files.parquetFolder, "manifest.json"));
  const report = withReport ? await findReportFile(company, files) : null;
  const made: MadeFile[] = report ? [report] : [];
  for (const { table, file: name, bytes, rows, columns, seq, report_date: day } of manifest?.files ?? []) {
    // Of a table that this version does not know any more.
    if (seq !== manifest?.seq) continue;
    const file = path.join(files.parquetFolder, name);
    const folder = `company=${company}/${table}${day === undefined ? "" : `/report_date=${day}`}`;
    const keyIn = (publication: string) => `${folder}/data-${publication}.parquet`;
    const content = await rowsHash(file, [columns, day]);
    made.push({ name: table, file, keyIn, bytes, rows, content, seq, columns });
  }
  return { seq: manifest?.seq ?? null, files: made };
}

/** Null: this node has not made it yet. */
async function findReportFile(company: string, { report, afterRun }: MirrorFiles): Promise<MadeFile | null> {
  if (!existsSync(report)) return null;
  const { size_bytes: bytes, sha256: content } = await hashOf(report);
  const seq = readSteps(afterRun)[reportStep]?.seq ?? 0;
  const keyIn = (publication: string) => `company=${company}/report-${publication}.db`;
  return { name: reportName, file: report, keyIn, bytes, rows: null, content, seq, columns: [] };
}

/** Records that what was made here could not be published: the report is made and published again. */
export function noteUnpublished({ config, files }: CompanySettings, error: string, nowMs: number): void {
  const parquet = config.exports.filter(({ to }) => to === null).map((entry) => exportStep(entry, config));
  for (const step of config.schedule.publish === null ? parquet : [reportStep, ...parquet])
    recordStep(files.afterRun, step, { outcome: "failed", error, seq: null }, nowMs, nowMs);
}

/** Behind the footer stand its length and the last four letters of the format. */
const tailBytes = 8;

/**
 * A hash of a Parquet file's rows and of facts about them. Its footer also names the state of the mirror, with which
 * files of tables that did not change would differ after each run.
 */
async function rowsHash(file: string, facts: readonly unknown[]): Promise<string> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  const tail = Buffer.alloc(tailBytes);
  await handle.read(tail, 0, tailBytes, size - tailBytes);
  const rowsEnd = size - tailBytes - tail.readUInt32LE();
  const rows = await hashOf(handle.createReadStream({ start: 0, end: rowsEnd - 1, autoClose: false }));
  return hash("sha256", JSON.stringify([rows, ...facts]));
}
