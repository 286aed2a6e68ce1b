import type { SnapshotPointer } from "../postgres/tables/snapshots-table.ts";
import type { FileStore, WriteRight } from "../../file-store/file-store.ts";
import { manifestKey, mirrorKey, nameOfKey, previousOf, type SnapshotName } from "./snapshot-manifest.ts";

/**
 * Removes what is stored of a company besides its last two snapshots. The first snapshot of an epoch looks for
 * everything: also for what earlier owners stored and never published. Later ones remove the one that they know of,
 * because to list costs as much as to store.
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
  const old = known ? keysOf(known) : await keysBesides(store, [pointer, before], right.signal);
  // The manifest first: it never stands for a mirror that is gone.
  for (const key of old.toSorted((a, b) => Number(isMirror(a)) - Number(isMirror(b))))
    await store.remove(key, right);
}

/** Those of a higher epoch belong to another owner. */
async function keysBesides(
  store: FileStore,
  kept: readonly [SnapshotName, SnapshotName | null],
  signal: AbortSignal,
): Promise<string[]> {
  const [{ company, epoch }] = kept;
  const keptKeys = new Set(kept.flatMap((name) => (name ? keysOf(name) : [])));
  const keys = await store.list(`${company}/`, signal);
  return keys.filter((key) => {
    const name = nameOfKey(key);
    return name !== null && name.epoch <= epoch && !keptKeys.has(key);
  });
}

const keysOf = (name: SnapshotName) => [mirrorKey(name), manifestKey(name)];
const isMirror = (key: string) => key.includes(".db.zst");
