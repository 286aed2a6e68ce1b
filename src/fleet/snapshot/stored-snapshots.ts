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
}

export type SnapshotName = Pick<SnapshotPointer, "company" | "epoch" | "id">;

/** Under which the packed mirror is stored: `acme/e7/2026-11-22T20-52-47-123Z-4711.db.zst`. */
export function mirrorKey({ company, epoch, id }: SnapshotName): string {
  return `${company}/e${epoch}/${id}.db.zst`;
}

export function manifestKey({ company, epoch, id }: SnapshotName): string {
  return `${company}/e${epoch}/${id}.json`;
}

/** Which snapshot a key of the store belongs to, finished or not; null: to none. */
function nameOfKey(key: string): SnapshotName | null {
  const pattern = /^([\w-]+)\/e(\d+)\/([\w-]+)\.(?:db\.zst|json)(?:(?:\.\w+)?\.partial)?$/;
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
  const { company, epoch, node, id, seq, inbox_seq, taken_at, packed } = manifest;
  const { identity, last_run, failed_start, summary, request_hours, version, unpacked } = manifest;
  const previous = published && { company, epoch: published.epoch, id: published.id };
  const facts = { identity, last_run, failed_start, summary, request_hours, version, unpacked, previous };
  return { company, epoch, node, id, seq, inbox_seq, taken_at, ...packed, facts };
}

/** The snapshot that was published before this one; null: none, or nobody knows. */
function previousOf({ facts }: SnapshotPointer): SnapshotName | null {
  return (facts["previous"] as SnapshotName | null | undefined) ?? null;
}

/** What was sent for the company in the day before its snapshot; nothing where nobody knows. */
export function requestHoursOf(pointer: SnapshotPointer | null): RequestHours {
  return (pointer?.facts["request_hours"] as RequestHours | undefined) ?? {};
}

/** How far the mirror in a published snapshot is. */
export function positionOf({ seq, inbox_seq, facts }: SnapshotPointer): MirrorPosition {
  const { last_run = null, failed_start = null } = facts as Partial<SnapshotManifest>;
  return { seq, inbox_seq, last_run, failed_start };
}

/** The content that a published snapshot unpacks to. @throws MirrorError `database` where the pointer has none */
export function unpackedOf({ company, id, facts }: SnapshotPointer): ContentFacts {
  const { size_bytes, sha256 } = (facts["unpacked"] ?? {}) as Partial<ContentFacts>;
  if (typeof size_bytes === "number" && typeof sha256 === "string") return { size_bytes, sha256 };
  throw new MirrorError("database", `the pointer to snapshot ${id} of ${company} cannot be used`, {
    hint: "A newer version wrote it: update fintoro-mirror on this node.",
  });
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
  const known = before?.epoch === pointer.epoch ? previousOf(before) : null;
  const kept = new Set([pointer, before].flatMap((name) => (name ? keysOf(name) : [])));
  const isOld = (key: string) => (nameOfKey(key)?.epoch ?? Infinity) <= pointer.epoch && !kept.has(key);
  const old = known ? keysOf(known) : (await store.list(`${pointer.company}/`, right.signal)).filter(isOld);
  // The manifest first: it never stands for a mirror that is gone.
  for (const key of old.toSorted((a, b) => Number(isMirror(a)) - Number(isMirror(b))))
    await store.remove(key, right);
}

const keysOf = (name: SnapshotName) => [manifestKey(name), mirrorKey(name)];
const isMirror = (key: string) => key.includes(".db.zst");
