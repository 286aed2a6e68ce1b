import type { FileStore, WriteRight } from "../../file-store/file-store.ts";
import type { SnapshotPointer } from "../postgres/tables/snapshots-table.ts";
import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { MirrorManifest } from "../../backup/copy-mirror.ts";
import type { ContentFacts } from "../../base/files/hashed-file.ts";
import type { Owner } from "../postgres/tables/owners-table.ts";
import type { MirrorPosition, RequestHours, SnapshotSummary } from "./snapshot-facts.ts";

/** What stands beside a snapshot, for people and programs that find it without Postgres. */
export interface SnapshotManifest extends Owner, MirrorManifest, Omit<MirrorPosition, "seq"> {
  readonly id: string;
  readonly summary: SnapshotSummary;
  readonly request_hours: RequestHours;
  readonly packed: ContentFacts;
  /** The mirror in it. */
  readonly unpacked: ContentFacts;
  /** The manifest of its files; null: it knows of none. */
  readonly files: ContentFacts | null;
}

export type SnapshotName = Pick<SnapshotPointer, "company" | "epoch" | "id">;

const keyWith = (ending: string) => (name: SnapshotName) =>
  `${name.company}/e${name.epoch}/${name.id}${ending}`;

/** Under which the packed mirror is stored: `acme/e7/2026-11-22T20-52-47-123Z-4711.db.zst`. */
export const mirrorKey = keyWith(".db.zst");
export const filesKey = keyWith(".jsonl");
export const manifestKey = keyWith(".json");

/** Which snapshot a key of the store belongs to, finished or not; null: to none. */
function nameOfKey(key: string): SnapshotName | null {
  const pattern = /^([\w-]+)\/e(\d+)\/([\w-]+)\.(?:db\.zst|jsonl?)(?:(?:\.\w+)?\.partial)?$/;
  const [, company, epoch, id] = pattern.exec(key) ?? [];
  if (company === undefined || epoch === undefined || id === undefined) return null;
  return { company, epoch: Number(epoch), id };
}

/** Unique within an epoch; in the order of time as far as the node's clock has one. */
export function idOfSnapshot(takenAtMs: number, seq: number): string {
  return `${isoTime(takenAtMs).replaceAll(/[:.]/g, "-")}-${seq}`;
}

/** What Postgres keeps of a snapshot that is published after another one. */
export function pointerOf(manifest: SnapshotManifest, published: SnapshotPointer | null): SnapshotPointer {
  // Counts of all tables would be most of what Postgres keeps.
  const { company, epoch, node, id, seq, inbox_seq, taken_at, packed, rows: _, ...stated } = manifest;
  const previous = published && { company, epoch: published.epoch, id: published.id };
  return { company, epoch, node, id, seq, inbox_seq, taken_at, ...packed, facts: { ...stated, previous } };
}

/** What a pointer says of its snapshot; anything may be missing where another version wrote it. */
export function factsOf(pointer: SnapshotPointer | null) {
  return (pointer?.facts ?? {}) as Partial<SnapshotManifest & { previous: SnapshotName | null }>;
}

export function positionOf(pointer: SnapshotPointer): MirrorPosition {
  const { last_run = null, failed_start = null, files_head = null } = factsOf(pointer);
  return { seq: pointer.seq, inbox_seq: pointer.inbox_seq, last_run, failed_start, files_head };
}

/** The content that a published snapshot unpacks to. @throws MirrorError `database` where the pointer has none */
export function unpackedOf(pointer: SnapshotPointer): ContentFacts {
  const { size_bytes, sha256 }: Partial<ContentFacts> = factsOf(pointer).unpacked ?? {};
  if (typeof size_bytes === "number" && typeof sha256 === "string") return { size_bytes, sha256 };
  const { company, id } = pointer;
  const hint = "A newer version wrote it: update fintoro-mirror on this node.";
  throw new MirrorError("database", `the pointer to snapshot ${id} of ${company} cannot be used`, { hint });
}

/**
 * The newest snapshot that is stored whole, up to this epoch, where it is newer than the published one. A manifest is stored
 * last: with it, the snapshot is whole.
 */
export async function newestStored(
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
export async function pruneSnapshots(
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
