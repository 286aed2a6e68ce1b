import { rm } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeFolders } from "../../base/atomic-file.ts";
import { eitherSignal } from "../../base/cancellation.ts";
import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { MirrorFiles } from "../../config/mirror-files.ts";
import { putChecked, type FileStore, type WriteRight } from "../../file-store/file-store.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import { readLog } from "../../state/meta.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import { openReadable } from "../../store/migrations/migrate.ts";
import type { Ownership } from "../ownership/ownership.ts";
import { noOwner } from "../postgres/tables/owners-table.ts";
import type { ChangeRow, SnapshotPointer, SnapshotsTable } from "../postgres/tables/snapshots-table.ts";
import { beginning, readMirrorPosition } from "./mirror-position.ts";
import type { MirrorThreads } from "./mirror-threads.ts";
import { pruneSnapshots } from "./prune-snapshots.ts";
import { addRequests, requestsOf } from "./request-hours.ts";
import {
  idOfSnapshot,
  manifestKey,
  mirrorKey,
  pointerOf,
  requestHoursOf,
  positionOf,
  type SnapshotManifest,
} from "./snapshot-manifest.ts";

export interface SnapshotParts {
  readonly ownership: Ownership;
  readonly files: MirrorFiles;
  /** Sent for the company since its snapshot was published. */
  readonly requests: number;
  readonly store: FileStore;
  readonly snapshots: SnapshotsTable;
  readonly threads: MirrorThreads;
  readonly clock: Clock;
  readonly log: Log;
  /** Of this program. */
  readonly version: string;
  readonly signal: AbortSignal;
}

/**
 * Publishes a snapshot of the company's mirror, beside its writer. One at a time for each company. Gives null where
 * the mirror is as far as the published one, or there is none yet.
 *
 * Guarantee: the pointer names only what was stored whole, read back and compared. Change log, inbox position and
 * pointer move in one transaction that holds the ownership; who lost it publishes nothing.
 * Source of truth: the mirror; which snapshot counts: table `snapshots`.
 * Worst outcome of a crash: a stored snapshot without a pointer, and a folder on this node; the next one removes both.
 *
 * @throws MirrorError `locked` once the ownership is lost, `stopped`, `database`, and those of the store
 */
export async function makeSnapshot(parts: SnapshotParts): Promise<SnapshotPointer | null> {
  const { ownership, files, snapshots } = parts;
  await rm(files.snapshotStaging, { recursive: true, force: true });
  const position = positionAt(files.mirror);
  const published = await snapshots.current(ownership.company);
  if (published && published.epoch > ownership.epoch) throw noOwner(ownership);
  if (isDeepStrictEqual(position, published ? positionOf(published) : beginning)) return null;
  ownership.assertHeld();
  makeFolders(files.snapshotStaging);
  try {
    return await publish(parts, published);
  } finally {
    await rm(files.snapshotStaging, { recursive: true, force: true });
  }
}

/** Where there is no mirror it is at its beginning. */
function positionAt(mirror: string) {
  const db = openReadable(mirror);
  if (!db) return beginning;
  try {
    return readMirrorPosition(db);
  } finally {
    db.close();
  }
}

async function publish(parts: SnapshotParts, published: SnapshotPointer | null): Promise<SnapshotPointer> {
  const { ownership, files, snapshots, threads, clock, log, signal } = parts;
  const right: WriteRight = {
    signal: eitherSignal(ownership.lost, signal),
    assertHeld: () => ownership.assertHeld(),
  };
  const inStaging = (name: string) => path.join(files.snapshotStaging, name);
  const takenAtMs = clock.nowMs();
  const copies = { copy: inStaging("mirror.db"), packed: inStaging("mirror.db.zst") };
  const work = { mirror: files.mirror, ...copies, takenAtMs };
  const { facts, position, summary, unpacked, packed } = await threads.pack(work, right.signal);
  const request_hours = addRequests(requestHoursOf(published), takenAtMs, parts.requests);
  const manifest: SnapshotManifest = {
    format: 1,
    company: ownership.company,
    epoch: ownership.epoch,
    node: ownership.node,
    id: idOfSnapshot(takenAtMs, facts.seq),
    taken_at: isoTime(takenAtMs),
    version: parts.version,
    identity: facts.identity,
    log: facts.log,
    seq: facts.seq,
    inbox_seq: position.inboxSeq,
    last_run: position.lastRun,
    failed_start: position.failedStart,
    summary: { ...summary, day_requests: Math.max(summary.day_requests, requestsOf(request_hours)) },
    request_hours,
    rows: facts.rows,
    packed,
    unpacked,
  };
  await putChecked(parts.store, mirrorKey(manifest), work.packed, right, packed);
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await putChecked(parts.store, manifestKey(manifest), Buffer.from(text), right);
  const pointer = pointerOf(manifest, published);
  await publishPointer(snapshots, ownership, pointer, work.copy);
  await pruneSnapshots(parts.store, pointer, published, right).catch((error: unknown) =>
    log.warn(`${pointer.company}: older snapshots were not removed: ${messageOf(error)}`),
  );
  return pointer;
}

async function publishPointer(
  snapshots: SnapshotsTable,
  ownership: Ownership,
  pointer: SnapshotPointer,
  copy: string,
): Promise<void> {
  const { company, epoch, node } = ownership;
  const db = openDatabase(copy, { readonly: true });
  try {
    ownership.assertHeld();
    await snapshots.publish({ company, epoch, node }, pointer, (seq) => changesAfter(db, seq));
  } finally {
    db.close();
  }
}

/** Rows that are read at once: a few milliseconds. */
const changesAtOnce = 1_000;

function* changesAfter(db: Db, seq: number): Generator<ChangeRow> {
  const { id: log } = readLog(db);
  const changes = new Changes(db);
  for (let after = seq; ;) {
    const next = changes.factsAfter(after, changesAtOnce);
    for (const { recordId, ...change } of next) yield { log, ...change, recordId: String(recordId) };
    const last = next.at(-1);
    if (!last) return;
    after = last.seq;
  }
}
