import { rm } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makeFolders, replaceFile } from "../../base/files/atomic-file.ts";
import { isoTime } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import { manifestText, type ContentFacts } from "../../base/files/hashed-file.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { runInThread, threadFile } from "../../base/threads.ts";
import type { MirrorManifest } from "../../backup/copy-mirror.ts";
import type { CompanySettings, MirrorFiles } from "../../store/mirror-files.ts";
import { fetchChecked, putChecked, readText } from "../../file-store/file-store.ts";
import type { FileStore, WriteRight } from "../../file-store/file-store.ts";
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
import { noOwner, type Owner } from "../postgres/tables/owners-table.ts";
import type { ChangeRow, SnapshotPointer, SnapshotsTable } from "../postgres/tables/snapshots-table.ts";
import { epochBase, type Timeline } from "../postgres/tables/timeline-table.ts";
import type { MirrorTask, PackedMirror } from "./mirror-thread.ts";
import { addRequests, beginning, readMirrorPosition, readSummary } from "./snapshot-facts.ts";
import type { MirrorPosition, SnapshotSummary } from "./snapshot-facts.ts";

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
      const { oldestReadMs, ...content } = made;
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
        files,
      };
      await putChecked(store, mirrorKey(manifest), packed, right, content.packed);
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

/** What stands beside a snapshot, for people and programs that find it without Postgres. */
interface SnapshotManifest extends Owner, MirrorManifest, Omit<PackedMirror, "oldestReadMs"> {
  readonly id: string;
  readonly summary: SnapshotSummary;
  readonly request_hours: ReturnType<typeof addRequests>;
  /** The manifest of its files; null: it knows of none. */
  readonly files: ContentFacts | null;
}

type SnapshotName = Pick<SnapshotPointer, "company" | "epoch" | "id">;

const keyWith = (ending: string) => (name: SnapshotName) =>
  `${name.company}/e${name.epoch}/${name.id}${ending}`;

/** Under which the packed mirror is stored: `acme/e7/2026-11-22T20-52-47-123Z-4711.db.zst`. */
export const mirrorKey = keyWith(".db.zst");
const filesKey = keyWith(".jsonl");
export const manifestKey = keyWith(".json");

/** Which snapshot a key of the store belongs to, finished or not; null: to none. */
function nameOfKey(key: string): SnapshotName | null {
  const pattern = /^([\w-]+)\/e(\d+)\/([\w-]+)\.(?:db\.zst|jsonl?)(?:(?:\.\w+)?\.partial)?$/;
  const [, company, epoch, id] = pattern.exec(key) ?? [];
  if (company === undefined || epoch === undefined || id === undefined) return null;
  return { company, epoch: Number(epoch), id };
}

/** Unique within an epoch; in the order of time as far as the node's clock has one. */
function idOfSnapshot(takenAtMs: number, seq: number): string {
  return `${isoTime(takenAtMs).replaceAll(/[:.]/g, "-")}-${seq}`;
}

/** What Postgres keeps of a snapshot that is published after another one. */
function pointerOf(manifest: SnapshotManifest, published: SnapshotPointer | null): SnapshotPointer {
  // Counts of all tables would be most of what Postgres keeps.
  const { company, epoch, node, id, seq, inbox_seq, taken_at, packed, rows: _, ...stated } = manifest;
  const previous = published && { company, epoch: published.epoch, id: published.id };
  return { company, epoch, node, id, seq, inbox_seq, taken_at, ...packed, facts: { ...stated, previous } };
}

/** What a pointer says of its snapshot; anything may be missing where another version wrote it. */
function factsOf(pointer: SnapshotPointer | null) {
  return (pointer?.facts ?? {}) as Partial<SnapshotManifest & { previous: SnapshotName | null }>;
}

export function positionOf(pointer: SnapshotPointer): MirrorPosition {
  const { last_run = null, failed_start = null, files_head = null } = factsOf(pointer);
  return { seq: pointer.seq, inbox_seq: pointer.inbox_seq, last_run, failed_start, files_head };
}

/** The content that a published snapshot unpacks to. @throws MirrorError `database` where the pointer has none */
function unpackedOf(pointer: SnapshotPointer): ContentFacts {
  const { size_bytes, sha256 }: Partial<ContentFacts> = factsOf(pointer).unpacked ?? {};
  if (typeof size_bytes === "number" && typeof sha256 === "string") return { size_bytes, sha256 };
  const { company, id } = pointer;
  throw new MirrorError("database", `the pointer to snapshot ${id} of ${company} cannot be used`, {
    hint: "A newer version wrote it: update fintoro-mirror on this node.",
  });
}

/**
 * The newest snapshot that is stored whole, up to this epoch, where it is newer than the published one. A manifest is stored
 * last: with it, the snapshot is whole.
 */
async function newestStored(
  store: FileStore,
  company: string,
  mostEpoch: number,
  published: SnapshotPointer | null,
  signal: AbortSignal,
): Promise<SnapshotName | null> {
  const keys = await store.list(`${company}/`, signal);
  const present = new Set(keys);
  const newest = keys
    .flatMap((key) => nameOfKey(key) ?? [])
    .filter((name) => name.epoch <= mostEpoch && present.has(manifestKey(name)))
    .toSorted(byAge)
    .at(-1);
  return newest && !(published && byAge(newest, published) <= 0) ? newest : null;
}

/** Numbers of changes grow within an epoch; where only deliveries were added, the time in the id decides. */
function byAge(a: SnapshotName, b: SnapshotName): number {
  return a.epoch - b.epoch || seqOf(a) - seqOf(b) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

const seqOf = ({ id }: SnapshotName) => Number(/\d+$/.exec(id)?.[0] ?? 0);

/**
 * Removes what is stored of a company besides its last two snapshots. The first snapshot of an epoch looks for
 * everything: also for what earlier owners stored and never published. Later ones remove the one that they know of,
 * because to list costs as much as to store. What has a higher epoch belongs to another owner.
 *
 * @param before the snapshot that was published before `pointer`
 */
async function pruneSnapshots(
  store: FileStore,
  pointer: SnapshotPointer,
  before: SnapshotPointer | null,
  right: WriteRight,
): Promise<void> {
  const known = before?.epoch === pointer.epoch ? factsOf(before).previous : null;
  const kept = new Set([pointer, before].flatMap((name) => (name ? keysOf(name) : [])));
  const isOld = (key: string) => (nameOfKey(key)?.epoch ?? Infinity) <= pointer.epoch && !kept.has(key);
  const old = known ? keysOf(known) : (await store.list(`${pointer.company}/`, right.signal)).filter(isOld);
  // The manifest first: it never stands for a mirror that is gone.
  for (const key of old.toSorted((a, b) => Number(isMirror(a)) - Number(isMirror(b))))
    await store.remove(key, right);
}

const keysOf = (name: SnapshotName) => [manifestKey(name), filesKey(name), mirrorKey(name)];
const isMirror = (key: string) => key.includes(".db.zst");
