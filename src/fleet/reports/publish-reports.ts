import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/config.ts";
import type { MirrorFiles } from "../../config/mirror-files.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import { writeRight, type Ownership } from "../ownership/ownership.ts";
import type { ReportFiles, ReportsTable } from "../postgres/tables/reports-table.ts";
import { findMadeReport, reportKey } from "./report-files.ts";

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
  right.assertHeld();
  await reports.publish(owner, { seq, files: kept });
  return { seq, written, removed: gone, bytes: changed.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function withoutHashes(files: ReportFiles, keys: readonly string[]): ReportFiles {
  const unknown = keys.map((key) => [key, { bytes: 0, seq: 0, ...files[key], content: null }] as const);
  return { ...files, ...Object.fromEntries(unknown) };
}
