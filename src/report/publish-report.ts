import { existsSync, statSync } from "node:fs";
import { isoTime, localDate, type Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { takeWriterLock, type WriterLock } from "../store/writer-lock.ts";
import { openSnapshot, showSnapshot, type Snapshot, type SnapshotOptions } from "../state/snapshot.ts";
import { databaseError, openDatabase, type Db } from "../store/database.ts";
import { buildReport } from "./build-report.ts";
import { originOf, changeAt, readOrigin, sameOrigin, writeFacts, type Origin } from "./report-facts.ts";
import { layoutOf } from "./report-layout.ts";
import {
  copyReport,
  findReport,
  removeNext,
  replaceReport,
  reportPaths,
  type ReportPaths,
} from "./report-file.ts";
import { openKeys, declareKeys } from "./column-checks.ts";
import { yieldToLoop, type StepOptions } from "./row-copy.ts";
import { updateReport } from "./update-report.ts";

/** `anew` from the mirror alone, or the last report with what changed since. */
export type PublishWay = "anew" | "changes";

export interface PublishParts {
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly company: string;
  /** Files. */
  readonly mirror: string;
  readonly report: string;
  /** The report's date is the local date there. */
  readonly timezone: string;
  /** Of this program. */
  readonly version: string;
  readonly signal: AbortSignal;
  /** From the mirror alone, also when nothing changed. */
  readonly force?: boolean;
  /** Otherwise the faster one is taken. */
  readonly way?: PublishWay;
  readonly onStep?: StepOptions["onStep"];
}

export interface Published {
  /** `unchanged`: the file that is there says the same, and was not touched. */
  readonly outcome: "written" | "unchanged";
  readonly way: PublishWay | null;
  readonly file: string;
  readonly bytes: number;
  readonly seq: number;
  readonly reportDate: string;
}

/**
 * Writes the reporting file from one consistent read of the mirror, beside a running writer.
 *
 * Guarantee: readers have a whole file at every moment, the old one or the new one. Source of truth: the
 * mirror. Worst outcome of a crash: the old report stays, and a file beside it until the next publish.
 */
export async function publishReport(parts: PublishParts): Promise<Published> {
  const paths = reportPaths(parts.report);
  if (!existsSync(parts.mirror)) throw noMirror(parts);
  const lock = lockReport(paths);
  try {
    const isThere = findReport(paths.report);
    removeNext(paths);
    const last = isThere ? readOrigin(paths.report) : null;
    const asked = optionsOf(parts);
    const { origin, changes } = glance(parts, asked, last);
    if (last && !parts.force && sameOrigin(last, origin)) return told(parts, "unchanged", null, last);
    const isUpdatable = last !== null && changes !== null && last.layout === origin.layout;
    const fast = isUpdatable && !parts.force ? fasterWay(last.rows, changes) : "anew";
    const way = isUpdatable ? (parts.way ?? fast) : "anew";
    return await write(parts, paths, asked, way === "changes" ? last : null);
  } catch (error) {
    removeNext(paths);
    throw databaseError(paths.report, error);
  } finally {
    lock.release();
  }
}

function lockReport({ lock, report }: ReportPaths): WriterLock {
  try {
    return takeWriterLock(lock, "publish");
  } catch (error) {
    if (!(error instanceof MirrorError) || error.kind !== "locked") throw error;
    throw new MirrorError("locked", `another process is publishing: ${report}`, {
      hint: "Wait until it ends.",
      retryable: true,
      cause: error,
    });
  }
}

function noMirror({ company, mirror }: PublishParts): MirrorError {
  return new MirrorError("database", `there is no mirror of ${company} to publish: ${mirror}`, {
    hint: "Run `fintoro-mirror sync` first.",
  });
}

function optionsOf({ company, clock, timezone, version, manifest }: PublishParts): SnapshotOptions {
  const nowMs = clock.nowMs();
  const facts = { company, published_at: isoTime(nowMs), timezone, connector: manifest.name, version };
  return { reportDate: localDate(nowMs, timezone), facts };
}

interface Glance {
  readonly origin: Origin;
  /** Since the last report; null where that is not of this mirror's past. */
  readonly changes: number | null;
}

/** What the mirror would give now, without reading its rows. */
function glance({ mirror, manifest }: PublishParts, asked: SnapshotOptions, last: Origin | null): Glance {
  const snapshot = openSnapshot(mirror, manifest, asked);
  try {
    const { db, seq, tables } = snapshot;
    const origin = originOf(snapshot, layoutOf(manifest, tables).hash, asked.reportDate);
    const isPast = last !== null && last.seq <= seq && changeAt(db, last.seq) === last.lastChange;
    return { origin, changes: isPast ? seq - last.seq : null };
  } finally {
    snapshot.close();
  }
}

/** Measured: with one row in twenty changed it takes half as long, with one in ten as long; with few rows nobody waits. */
function fasterWay(rows: number, changes: number): PublishWay {
  return rows >= 20_000 && changes * 20 <= rows ? "changes" : "anew";
}

async function write(
  parts: PublishParts,
  paths: ReportPaths,
  asked: SnapshotOptions,
  last: Origin | null,
): Promise<Published> {
  if (last) copyReport(paths);
  const origin = await fill(parts, paths, asked, last);
  if (origin === null) {
    removeNext(paths);
    return write(parts, paths, asked, null);
  }
  replaceReport(paths);
  return told(parts, "written", last ? "changes" : "anew", origin);
}

/** Everything in one transaction; no journal, because a file that is not finished is thrown away. */
async function fill(
  { mirror, manifest, signal, onStep = () => undefined }: PublishParts,
  { next }: ReportPaths,
  asked: SnapshotOptions,
  last: Origin | null,
): Promise<Origin | null> {
  const db = openDatabase(":memory:");
  const manners = { signal, onStep };
  try {
    const snapshot = attach(db, mirror, next, manifest, asked);
    const layout = layoutOf(manifest, snapshot.tables);
    const origin = originOf(snapshot, layout.hash, asked.reportDate);
    if (last && (last.layout !== layout.hash || !(await updateReport(db, layout, last.seq, manners))))
      return null;
    if (!last) {
      await buildReport(db, layout, manners);
      await declareKeys(db, layout, manners);
    }
    await yieldToLoop(manners);
    writeFacts(db, origin, layout.tables, openKeys(db, layout));
    db.pragma("analysis_limit = 1000");
    db.exec("ANALYZE report");
    db.exec("COMMIT");
    await yieldToLoop(manners);
    assertSound(db);
    return origin;
  } finally {
    db.close();
  }
}

function attach(db: Db, mirror: string, next: string, manifest: Manifest, asked: SnapshotOptions): Snapshot {
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
  // Of the connection's own, empty database: how much of an index is sorted at once. What fits the processor's
  // cache and is merged afterwards takes half the time of all at once.
  db.pragma("main.cache_size = -2000");
  db.exec("BEGIN");
  return showSnapshot(db, "mirror", manifest, asked);
}

/** Large pages make a large report a fifth faster to write and to scan; a small one would be mostly empty. */
function pageSizeFor(mirrorBytes: number): number {
  return mirrorBytes > 100e6 ? 32_768 : 4_096;
}

function assertSound(db: Db): void {
  const found = db.pragma("report.quick_check", { simple: true });
  if (found === "ok") return;
  throw new MirrorError("database", `the new report is damaged and was thrown away: ${String(found)}`, {
    hint: "Check the disk and memory, then publish again.",
  });
}

function told(
  { report }: PublishParts,
  outcome: Published["outcome"],
  way: PublishWay | null,
  { seq, reportDate }: Origin,
): Published {
  return { outcome, way, file: report, bytes: statSync(report).size, seq, reportDate };
}
