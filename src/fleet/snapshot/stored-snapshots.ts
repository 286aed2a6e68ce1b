import type { FileStore, WriteRight } from "../../file-store/file-store.ts";
import type { SnapshotPointer } from "../postgres/tables/snapshots-table.ts";
import { manifestKey, mirrorKey, nameOfKey, previousOf, type SnapshotName } from "./snapshot-manifest.ts";

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
