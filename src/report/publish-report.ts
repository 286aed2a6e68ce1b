import { existsSync, statSync } from "node:fs";
import { isoTime, localDate, type Clock } from "../base/clock.ts";
import { assert, MirrorError } from "../base/errors.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { openSnapshot, showSnapshot, type SnapshotOptions } from "../state/mirror-snapshot.ts";
import { databaseError, openDatabase, type Db } from "../store/database.ts";
import { takeWriterLock } from "../store/writer-lock.ts";
import { buildReport, redeclareTables } from "./build-report.ts";
import { pause, type ReportDraft } from "./publish-draft.ts";
import {
  changeAt,
  originOf,
  readLastReport,
  sameOrigin,
  writeFacts,
  type LastReport,
  type Origin,
} from "./report-facts.ts";
import {
  copyReport,
  findReport,
  removeNext,
  replaceReport,
  reportPaths,
  type ReportPaths,
} from "./report-file.ts";
import { layoutOf } from "./report-layout.ts";
import { updateReport } from "./update-report.ts";

/** `anew`: from the mirror alone; `changes`: a copy of the last report, with what changed since. */
export type PublishWay = "anew" | "changes";

/** What a publish works with. */
export interface PublishParts {
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly company: string;
  /** The mirror's file. */
  readonly mirror: string;
  /** The report's file. */
  readonly report: string;
  /** IANA time zone of the report's date. */
  readonly timezone: string;
  /** Of this program. */
  readonly version: string;
  readonly signal: AbortSignal;
  /** Publish anew even if nothing changed. */
  readonly force?: boolean;
  /** By default the faster one. */
  readonly way?: PublishWay;
  readonly onStep?: ReportDraft["onStep"];
}

/** What a publish did. */
export interface Published {
  /** `unchanged`: the report that is there has the same content and was not touched. */
  readonly outcome: "written" | "unchanged";
  readonly way: PublishWay | null;
  readonly file: string;
  readonly bytes: number;
  readonly seq: number;
  readonly reportDate: string;
}

/**
 * Publishes the report from one consistent read of the mirror, beside a running writer.
 *
 * Guarantee: readers have a complete file at every moment, the earlier report or the new one.
 * Source of truth: the mirror.
 * Worst outcome of a crash: the earlier report stays, and an unfinished file beside it until the next publish.
 *
 * @throws MirrorError `locked`, `stopped` or `database`
 */
export async function publishReport(parts: PublishParts): Promise<Published> {
  const paths = reportPaths(parts.report);
  if (!existsSync(parts.mirror)) throw noMirror(parts);
  const lock = takeWriterLock(paths.lock, "publish", `the report ${parts.report}`);
  try {
    const last = findReport(paths.report) ? readLastReport(paths.report) : null;
    removeNext(paths);
    const options = snapshotOptions(parts);
    const { origin, way } = lookAhead(parts, options, last);
    if (last && !parts.force && sameOrigin(last, origin)) return publishedOf(parts, "unchanged", null, last);
    const job = { parts, paths, options, last };
    const written = (await writeNext(job, way)) ?? (await writeNext(job, "anew"));
    assert(written, "a report can always be made anew");
    replaceReport(paths);
    return publishedOf(parts, "written", written.way, written.origin);
  } catch (error) {
    removeNext(paths);
    throw databaseError(paths.report, error);
  } finally {
    lock.release();
  }
}

function noMirror({ company, mirror }: PublishParts): MirrorError {
  return new MirrorError("database", `there is no mirror of ${company} to publish: ${mirror}`, {
    hint: "Run `fintoro-mirror sync` first.",
  });
}

function snapshotOptions({ company, clock, timezone, version, manifest }: PublishParts): SnapshotOptions {
  const nowMs = clock.nowMs();
  const facts = { company, published_at: isoTime(nowMs), timezone, connector: manifest.name, version };
  return { reportDate: localDate(nowMs, timezone), facts };
}

/** The origin that a report would have now, and the way to make it, without reading rows. */
function lookAhead(
  { mirror, manifest, force, way }: PublishParts,
  options: SnapshotOptions,
  last: LastReport | null,
): Written {
  const snapshot = openSnapshot(mirror, manifest, options);
  try {
    const { db, seq, tables } = snapshot;
    const origin = originOf(snapshot, layoutOf(manifest, tables).hash, options.reportDate);
    const isOfThisMirror = last !== null && last.seq <= seq && changeAt(db, last.seq) === last.lastChange;
    if (!isOfThisMirror || last.layout !== origin.layout) return { origin, way: "anew" };
    return { origin, way: way ?? (force ? "anew" : fasterWay(last.rows, seq - last.seq)) };
  } finally {
    snapshot.close();
  }
}

/** Measured: an update takes half as long with one row in twenty changed, and as long with one in ten. */
function fasterWay(rows: number, changes: number): PublishWay {
  return rows >= 20_000 && changes * 20 <= rows ? "changes" : "anew";
}

interface Written {
  readonly origin: Origin;
  readonly way: PublishWay;
}

interface PublishJob {
  readonly parts: PublishParts;
  readonly paths: ReportPaths;
  readonly options: SnapshotOptions;
  readonly last: LastReport | null;
}

/**
 * Writes the next report in one transaction, without a journal: an unfinished file is removed. Null: the mirror's
 * layout changed meanwhile, so that a copy of the last report cannot be updated.
 */
async function writeNext(
  { parts, paths, options, last }: PublishJob,
  way: PublishWay,
): Promise<Written | null> {
  const { mirror, manifest, signal, onStep = () => undefined } = parts;
  removeNext(paths);
  if (way === "changes") copyReport(paths);
  const db = openDatabase(":memory:");
  try {
    attach(db, mirror, paths.next);
    const snapshot = showSnapshot(db, "mirror", manifest, options);
    const layout = layoutOf(manifest, snapshot.tables);
    const origin = originOf(snapshot, layout.hash, options.reportDate);
    const draft = { db, layout, signal, onStep };
    if (way === "anew") await buildReport(draft, last?.undeclared ?? new Map());
    else if (last?.layout !== layout.hash) return null;
    else await updateReport(draft, last.seq);
    writeFacts(draft, origin, await redeclareTables(draft));
    await pause(draft);
    db.pragma("analysis_limit = 1000");
    db.exec("ANALYZE report");
    db.exec("COMMIT");
    await pause(draft);
    assertSound(db);
    return { origin, way };
  } finally {
    db.close();
  }
}

/** Attaches the `mirror` and the `report`, and begins the transaction. */
function attach(db: Db, mirror: string, next: string): void {
  db.prepare("ATTACH ? AS mirror").run(mirror);
  db.prepare("ATTACH ? AS report").run(next);
  db.pragma("mirror.synchronous = FULL");
  db.pragma("mirror.cache_size = -16000");
  db.pragma(`report.page_size = ${pageSizeFor(statSync(mirror).size)}`);
  db.pragma("report.auto_vacuum = NONE");
  db.pragma("report.journal_mode = OFF");
  db.pragma("report.synchronous = OFF");
  db.pragma("report.locking_mode = EXCLUSIVE");
  db.pragma("report.cache_size = -64000");
  // The empty main database's cache is what an index is sorted in. Runs that fit the processor's cache, merged
  // afterwards, take half the time of one sort.
  db.pragma("main.cache_size = -2000");
  db.exec("BEGIN");
}

/** Large pages make a large report a fifth faster to write and to scan; a small one would be mostly empty. */
function pageSizeFor(mirrorBytes: number): number {
  return mirrorBytes > 100e6 ? 32_768 : 4_096;
}

function assertSound(db: Db): void {
  const found = db.pragma("report.quick_check", { simple: true });
  if (found === "ok") return;
  throw new MirrorError("database", `the new report is damaged and was removed: ${String(found)}`, {
    hint: "Check the disk and memory, then publish again.",
  });
}

function publishedOf(
  { report }: PublishParts,
  outcome: Published["outcome"],
  way: PublishWay | null,
  { seq, reportDate }: Origin,
): Published {
  return { outcome, way, file: report, bytes: statSync(report).size, seq, reportDate };
}
