import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { removeMirror } from "../../backup/copy-mirror.ts";
import { makeFolders } from "../../base/files/atomic-file.ts";
import { MirrorError, valueOr } from "../../base/errors.ts";
import type { MirrorFiles } from "../../store/mirror-files.ts";
import { inboxPositionKey, Meta } from "../../state/meta.ts";
import type { Mirror } from "../../state/mirror.ts";
import { UptimeLog } from "../../state/uptime-log.ts";
import { readDatabase, type Db } from "../../store/database.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import type { Ownership } from "../ownership/ownership.ts";
import type { SnapshotPointer } from "../postgres/tables/snapshots-table.ts";
import type { Timeline } from "../postgres/tables/timeline-table.ts";
import { readMirrorPosition } from "../snapshot/snapshot-facts.ts";
import { positionOf } from "../snapshot/stored-snapshots.ts";

/** Where a mirror notes in which epoch it was opened last. */
const epochKey = "fleet";
/** Where it notes on which timeline of the database; never written: the first one. */
const timelineKey = "fleet_timeline";

/**
 * Is the file of an earlier ownership the newest state of the company? It is where this node owned the company in the
 * epoch directly before: then nobody wrote between, and it is newer than any snapshot. Unless the disk was set back
 * meanwhile: then what is published is ahead of it.
 *
 * @param published null: no snapshot is
 */
export function continuesLocally(
  { mirror }: MirrorFiles,
  { epoch }: Pick<Ownership, "epoch">,
  published: Pick<SnapshotPointer, "seq" | "inbox_seq"> | null,
): boolean {
  if (!existsSync(mirror)) return false;
  return isTrueOf(mirror, (db) => {
    const { seq, inbox_seq } = readMirrorPosition(db);
    const isBehind = published !== null && (seq < published.seq || inbox_seq < published.inbox_seq);
    return new Meta(db).get(epochKey) === epoch - 1 && !isBehind;
  });
}

/**
 * Is everything that the file has to be had elsewhere? Either another owner followed, or the file is as far as the
 * published snapshot. Not of a file that no worker has left.
 */
export function isPublished(
  { mirror }: MirrorFiles,
  owner: Pick<Ownership, "epoch">,
  published: SnapshotPointer | null,
): boolean {
  return isTrueOf(mirror, (db) => {
    const epoch = new Meta(db).get(epochKey);
    if (typeof epoch !== "number") return false;
    const isAsFar = published !== null && isDeepStrictEqual(readMirrorPosition(db), positionOf(published));
    return owner.epoch > epoch || isAsFar;
  });
}

/** False also of a file that cannot be read: what is in it is not known. */
function isTrueOf(mirror: string, ask: (db: Db) => boolean): boolean {
  return valueOr(() => readDatabase(mirror, ask), false);
}

/**
 * Notices a mirror that cannot be used on this node: has its trouble lasted too long? To be asked every second, with why
 * no mirror is open; null: one is, or is being opened. One that breaks again and again is such a one.
 */
export function createTroubleWatch(mostMs: number): (problem: string | null, nowMs: number) => boolean {
  /** When none was open first and last; monotonic. */
  let times: { readonly firstMs: number; readonly lastMs: number } | null = null;
  return (problem, nowMs) => {
    if (problem !== null) times = { firstMs: times?.firstMs ?? nowMs, lastMs: nowMs };
    else if (times && nowMs - times.lastMs > mostMs / 2) times = null;
    return times !== null && times.lastMs - times.firstMs >= mostMs;
  };
}

/** Removes report and exported files that an earlier ownership left here: they may show changes that no snapshot has. */
export function discardReport({ report, afterRun, parquetFolder, unsentExports }: MirrorFiles): void {
  const left = [report, afterRun, parquetFolder, unsentExports];
  for (const each of left) rmSync(each, { recursive: true, force: true });
}

/**
 * Removes the mirror that an earlier ownership left here. What is known of the request budget stays.
 *
 * @throws MirrorError `locked` while a process writes it: an earlier one of this node, or another program
 */
export function discardMirror(files: MirrorFiles): void {
  const { mirror, lock: lockFile, verified, compared, unstoredFiles } = files;
  makeFolders(path.dirname(mirror));
  using _ = takeWriterLock(lockFile, "worker");
  removeMirror(mirror);
  for (const about of [verified, compared, unstoredFiles]) rmSync(about, { recursive: true, force: true });
}

/** Removes a mirror that cannot be used. Throws MirrorError `database` with the reason. */
export function abandonMirror(files: MirrorFiles, why: string): never {
  discardMirror(files);
  throw new MirrorError("database", `the mirror could not be used on this node, and was removed: ${why}`, {
    hint: "It is restored from its snapshot. If that happens again, check the disk of this node.",
  });
}

/**
 * Notes in the mirror to which ownership it belongs from now on, and on which timeline of the database it is. On a new one
 * deliveries have other numbers, so the inbox is read from its beginning; and those that were received before may be
 * lost, so nothing counts as received: the next run reads everything.
 */
export function noteOwnership(
  mirror: Mirror,
  { epoch }: Pick<Ownership, "epoch">,
  { number }: Pick<Timeline, "number">,
): void {
  const isOnTimeline = Number(mirror.meta.get(timelineKey) ?? 1) === number;
  mirror.apply(() => {
    mirror.meta.set(epochKey, epoch);
    if (isOnTimeline) return;
    mirror.meta.set(timelineKey, number);
    mirror.meta.set(inboxPositionKey, 0);
    new UptimeLog(mirror.db).forget();
  });
}
