import { rm } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeFolders, replaceFile } from "../../base/files/atomic-file.ts";
import { isoTime } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import { manifestText } from "../../base/files/hashed-file.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { runInThread, threadFile } from "../../base/threads.ts";
import type { CompanySettings, MirrorFiles } from "../../store/mirror-files.ts";
import { fetchChecked, putChecked, readText } from "../../file-store/file-store.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import { manifestName } from "../../files/archive.ts";
import { storeFiles } from "../../files/published-files.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import { readArchivePosition } from "../../state/meta.ts";
import { readLog } from "../../state/log-identity.ts";
import { Changes } from "../../store/apply/change-log.ts";
import { openDatabase, type Db } from "../../store/database.ts";
import { openReadable } from "../../store/migrations/migrate.ts";
import { scrubSources } from "../../sync/plan/scrub.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import { writeRight, type Ownership } from "../ownership/ownership.ts";
import { noOwner } from "../postgres/tables/owners-table.ts";
import type { ChangeRow, SnapshotPointer, SnapshotsTable } from "../postgres/tables/snapshots-table.ts";
import { epochBase, type Timeline } from "../postgres/tables/timeline-table.ts";
import type { MirrorTask, PackedMirror } from "./mirror-thread.ts";
import { addRequests, beginning, readMirrorPosition, readSummary } from "./snapshot-facts.ts";
import {
  filesKey,
  idOfSnapshot,
  manifestKey,
  mirrorKey,
  newestStored,
  factsOf,
  pointerOf,
  positionOf,
  pruneSnapshots,
  unpackedOf,
} from "./stored-snapshots.ts";
import type { SnapshotManifest, SnapshotName } from "./stored-snapshots.ts";

interface MirrorSnapshotsParts extends Pick<ProcessContext, "clock" | "log" | "version"> {
  readonly store: FileStore;
  readonly snapshots: SnapshotsTable;
}

/** More threads would wait for the same disk. */
const mostThreads = 2;

/**
 * Where mirrors are while no process has them: packed, in a store, with a pointer in Postgres. One object for each
 * process. Work on whole mirrors is done in threads, so that other companies wait for none of it.
 *
 * Guarantee: the pointer names only what was stored whole, read back and compared. Change log, inbox position and
 * pointer move in one transaction that holds the ownership; who lost it publishes nothing. At a restore everything is
 * checked before anything is touched; then the mirror is replaced by one rename. One of another company is never
 * replaced (I10).
 * Source of truth: the mirror; which snapshot counts: table `snapshots`.
 * Worst outcome of a crash: a stored snapshot without a pointer, and a folder on this node; the next one removes both.
 */
export class MirrorSnapshots {
  readonly #parts: MirrorSnapshotsParts;
  readonly #threads = new Semaphore(mostThreads);

  constructor(parts: MirrorSnapshotsParts) {
    this.#parts = parts;
  }

  /**
   * Publishes a snapshot of the company's mirror, beside its writer, with how many requests were sent for it since it was
   * published. One at a time for each company. Gives null where the mirror is as far as the published one, or there is
   * none yet.
   *
   * @param isNoted something is in the mirror that its position does not show: it is published anyway
   * @throws MirrorError `locked` once the ownership is lost, `stopped`, `database`, and those of the store
   */
  async publish(
    ownership: Ownership,
    scope: CompanySettings,
    requests: number,
    signal: AbortSignal,
    isNoted = false,
  ): Promise<SnapshotPointer | null> {
    const { company } = ownership;
    const { store, snapshots, clock, log, version } = this.#parts;
    const { mirror, snapshotStaging: staging, unstoredFiles } = scope.files;
    await rm(staging, { recursive: true, force: true });
    const position = positionAt(mirror);
    const published = await snapshots.current(company);
    if (published && published.epoch > ownership.epoch) throw noOwner(ownership);
    if (!isNoted && isDeepStrictEqual(position, published ? positionOf(published) : beginning)) return null;
    ownership.assertHeld();
    makeFolders(staging);
    const [copy, packed] = [path.join(staging, "mirror.db"), path.join(staging, "mirror.db.zst")];
    try {
      const takenAtMs = clock.nowMs();
      const right = writeRight(ownership, signal);
      const { declaration, resources } = scope;
      const sources = scrubSources({ declared: declaration.resources, resources, parentsPerRun: "auto" });
      const task = { kind: "pack", mirror, copy, packed, sources } as const;
      const made = await this.#inThread<PackedMirror>(task, right.signal);
      const { packed: stored, unpacked, oldestReadMs, ...content } = made;
      const hours = addRequests(factsOf(published).request_hours ?? {}, takenAtMs, requests);
      using db = openDatabase(copy, { readonly: true });
      const { epoch, node } = ownership;
      const name = { company, epoch, id: idOfSnapshot(takenAtMs, content.seq) };
      const known = readArchivePosition(db);
      const files = await storeFiles(store, company, unstoredFiles, known, filesKey(name), right);
      const manifest: SnapshotManifest = {
        format: 1,
        ...name,
        node,
        taken_at: isoTime(takenAtMs),
        version,
        ...content,
        summary: readSummary(db, scope, hours, oldestReadMs, takenAtMs),
        request_hours: hours,
        packed: stored,
        unpacked,
        files,
      };
      await putChecked(store, mirrorKey(manifest), packed, right, stored);
      await store.put(manifestKey(manifest), Buffer.from(manifestText(manifest)), right);
      const pointer = pointerOf(manifest, published);
      ownership.assertHeld();
      await snapshots.publish(ownership, pointer, (seq) => changesAfter(db, seq));
      await pruneSnapshots(store, pointer, published, right).catch((error: unknown) =>
        log.warn(`${company}: older snapshots were not removed: ${messageOf(error)}`),
      );
      return pointer;
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }

  /**
   * Puts a published snapshot where the company's mirror belongs on this node, in place of what is there. The mirror is
   * then what the disk of a process would show that was killed when the snapshot was taken.
   *
   * @throws MirrorError `locked` while a process writes the mirror, `identity`, `database` where the snapshot is lost or
   *   damaged, `stopped`, and those of the store
   */
  async restore(pointer: SnapshotPointer, files: MirrorFiles, signal: AbortSignal): Promise<void> {
    const { mirror, restoreStaging: staging, verified, compared, unstoredFiles } = files;
    const { store } = this.#parts;
    const expected = unpackedOf(pointer);
    makeFolders(path.dirname(mirror));
    using _ = takeWriterLock(files.lock, "worker");
    try {
      await rm(staging, { recursive: true, force: true });
      const [packed, unpacked] = [path.join(staging, "mirror.db.zst"), path.join(staging, "mirror.db")];
      const [manifest, ofFiles] = [path.join(staging, manifestName), factsOf(pointer).files];
      const lost = (cause?: unknown) => damaged(pointer, store, cause);
      await fetchChecked(store, mirrorKey(pointer), pointer, packed, signal, lost);
      if (ofFiles) await fetchChecked(store, filesKey(pointer), ofFiles, manifest, signal, lost);
      const about = [verified, compared, unstoredFiles];
      await this.#inThread({ kind: "place", packed, unpacked, expected, mirror, about }, signal);
      if (!ofFiles) return;
      makeFolders(unstoredFiles);
      replaceFile(manifest, path.join(unstoredFiles, manifestName));
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }

  /**
   * Finds the snapshot that a company goes on from: the published one. What Postgres knows since before it was restored
   * from a backup may be older than what is stored: then the newest whole one. Null: there is none.
   *
   * @throws MirrorError `database`, and those of the store
   */
  async current(company: string, timeline: Timeline, signal: AbortSignal): Promise<SnapshotPointer | null> {
    const { snapshots, store } = this.#parts;
    const pointer = await snapshots.current(company);
    const mostEpoch = epochBase(timeline);
    if (timeline.number === 1 || (pointer && pointer.epoch > mostEpoch)) return pointer;
    const newest = await newestStored(store, company, mostEpoch, pointer, signal);
    if (newest === null) return pointer;
    const manifest = await readText(store, manifestKey(newest), signal);
    try {
      // Written by a worker; what is stored is compared with what it says.
      return pointerOf(JSON.parse(manifest ?? "") as SnapshotManifest, pointer);
    } catch (cause) {
      throw damaged(newest, store, cause);
    }
  }

  /** In the order in which tasks are asked for. @throws what the task throws, or MirrorError `stopped` */
  async #inThread<Value>(task: MirrorTask, signal: AbortSignal): Promise<Value> {
    using place = await this.#threads.acquire(signal);
    if (!place) throw new MirrorError("stopped", "the work was interrupted");
    return await runMirrorTask<Value>(task, signal);
  }
}

/** Does a task in a thread of its own. Throws as `mirror-thread.ts` does, and `stopped`. */
export function runMirrorTask<Value>(task: MirrorTask, signal: AbortSignal): Promise<Value> {
  return runInThread<Value>(threadFile(new URL("./mirror-thread.ts", import.meta.url)), task, signal);
}

function positionAt(mirror: string) {
  using db = openReadable(mirror);
  return db ? readMirrorPosition(db) : beginning;
}

/** Rows that are read at once: a few milliseconds. */
const changesAtOnce = 1_000;

function* changesAfter(db: Db, seq: number): Generator<readonly ChangeRow[]> {
  const { id: log } = readLog(db);
  const changes = new Changes(db);
  for (let after = seq; ;) {
    const next = changes.factsAfter(after, changesAtOnce);
    const last = next.at(-1);
    if (!last) return;
    yield next.map(({ recordId, ...change }) => ({ log, ...change, recordId: String(recordId) }));
    after = last.seq;
  }
}

function damaged(pointer: SnapshotName, { address }: FileStore, cause: unknown): MirrorError {
  const { company } = pointer;
  const what = `the published snapshot is lost or damaged: ${mirrorKey(pointer)} in ${address}`;
  return new MirrorError("database", what, {
    hint: `Bring this file back as it was, from an earlier version of the bucket or a backup of the folder. Without one, \`fleet remove ${company} --forget\` and then \`fleet add ${company}\` read the company anew.`,
    cause,
  });
}
