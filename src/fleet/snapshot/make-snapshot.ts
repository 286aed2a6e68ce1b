import { rm } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeFolders } from "../../base/atomic-file.ts";
import { eitherSignal } from "../../base/cancellation.ts";
import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { mirrorFiles, type MirrorFiles } from "../../config/mirror-files.ts";
import { putChecked, type FileStore, type WriteRight } from "../../file-store/file-store.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import { readLog } from "../../state/meta.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import { openReadable } from "../../store/migrations/migrate.ts";
import type { StatusScope } from "../../status/company-view.ts";
import type { Ownership } from "../ownership/ownership.ts";
import { noOwner } from "../postgres/tables/owners-table.ts";
import type { ChangeRow, SnapshotPointer, SnapshotsTable } from "../postgres/tables/snapshots-table.ts";
import { beginning, readMirrorPosition } from "./mirror-position.ts";
import type { MirrorThreads, PackedMirror } from "./mirror-threads.ts";
import { pruneSnapshots } from "./prune-snapshots.ts";
import { readSummary } from "./snapshot-summary.ts";
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
  /** Whose mirror it is, and by what it is judged. */
  readonly scope: StatusScope;
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
  const { ownership, scope, snapshots } = parts;
  const files = mirrorFiles(scope.config, ownership.company);
  await rm(files.snapshotStaging, { recursive: true, force: true });
  const position = positionAt(files.mirror);
  const published = await snapshots.current(ownership.company);
  if (published && published.epoch > ownership.epoch) throw noOwner(ownership);
  if (isDeepStrictEqual(position, published ? positionOf(published) : beginning)) return null;
  ownership.assertHeld();
  makeFolders(files.snapshotStaging);
  try {
    return await publish(parts, files, published);
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

async function publish(
  parts: SnapshotParts,
  files: MirrorFiles,
  published: SnapshotPointer | null,
): Promise<SnapshotPointer> {
  const { ownership, snapshots, threads, clock, log, store } = parts;
  const signal = eitherSignal(ownership.lost, parts.signal);
  const right: WriteRight = { signal, assertHeld: () => ownership.assertHeld() };
  const inStaging = (name: string) => path.join(files.snapshotStaging, name);
  const takenAtMs = clock.nowMs();
  const work = { mirror: files.mirror, copy: inStaging("mirror.db"), packed: inStaging("mirror.db.zst") };
  const made = await threads.pack(work, signal);
  const copy = openDatabase(work.copy, { readonly: true });
  try {
    const manifest = manifestOf(parts, made, takenAtMs, {
      summary: readSummary(copy, parts.scope, takenAtMs),
      request_hours: addRequests(requestHoursOf(published), takenAtMs, parts.requests),
    });
    await putChecked(store, mirrorKey(manifest), work.packed, right, manifest.packed);
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    await store.put(manifestKey(manifest), Buffer.from(text), right);
    const pointer = pointerOf(manifest, published);
    const { company, epoch, node } = ownership;
    ownership.assertHeld();
    await snapshots.publish({ company, epoch, node }, pointer, (seq) => changesAfter(copy, seq));
    await pruneSnapshots(store, pointer, published, right).catch((error: unknown) =>
      log.warn(`${company}: older snapshots were not removed: ${messageOf(error)}`),
    );
    return pointer;
  } finally {
    copy.close();
  }
}

function manifestOf(
  { ownership, version }: SnapshotParts,
  { facts, position, packed, unpacked }: PackedMirror,
  takenAtMs: number,
  { summary, request_hours }: Pick<SnapshotManifest, "summary" | "request_hours">,
): SnapshotManifest {
  const { company, epoch, node } = ownership;
  return {
    format: 1,
    company,
    epoch,
    node,
    id: idOfSnapshot(takenAtMs, facts.seq),
    taken_at: isoTime(takenAtMs),
    version,
    ...facts,
    inbox_seq: position.inboxSeq,
    last_run: position.lastRun,
    failed_start: position.failedStart,
    summary: { ...summary, day_requests: Math.max(summary.day_requests, requestsOf(request_hours)) },
    request_hours,
    packed,
    unpacked,
  };
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
