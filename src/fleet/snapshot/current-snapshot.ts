import type { SnapshotPointer, SnapshotsTable } from "../postgres/tables/snapshots-table.ts";
import { epochBase, type Timeline } from "../postgres/tables/timeline-table.ts";
import { readText, type FileStore } from "../../file-store/file-store.ts";
import {
  manifestKey,
  nameOfKey,
  pointerOf,
  type SnapshotManifest,
  type SnapshotName,
} from "./snapshot-manifest.ts";

interface CurrentSnapshotParts {
  readonly company: string;
  /** On which the database is. */
  readonly timeline: Timeline;
  readonly snapshots: Pick<SnapshotsTable, "current">;
  readonly store: FileStore;
  readonly signal: AbortSignal;
}

/**
 * Finds the snapshot that a company goes on from: the published one. What Postgres knows since before it was restored
 * from a backup may be older than what is stored: then the newest whole one. Null: there is none.
 *
 * @throws MirrorError `database`, and those of the store
 */
export async function currentSnapshot(parts: CurrentSnapshotParts): Promise<SnapshotPointer | null> {
  const { company, timeline, snapshots, store, signal } = parts;
  const pointer = await snapshots.current(company);
  const mostEpoch = epochBase(timeline);
  if (timeline.number === 1 || (pointer && pointer.epoch > mostEpoch)) return pointer;
  const newest = wholeOnes(await store.list(`${company}/`, signal))
    .filter(({ epoch }) => epoch <= mostEpoch)
    .toSorted(byAge)
    .at(-1);
  if (!newest || (pointer && byAge(newest, pointer) <= 0)) return pointer;
  const manifest = await readText(store, manifestKey(newest), signal);
  // Written by a worker; what is stored is compared with what it says.
  return pointerOf(JSON.parse(manifest ?? "") as SnapshotManifest, pointer);
}

/** A manifest is stored last: with it, the snapshot is whole. */
function wholeOnes(keys: readonly string[]): SnapshotName[] {
  const present = new Set(keys);
  return keys.flatMap((key) => nameOfKey(key) ?? []).filter((name) => present.has(manifestKey(name)));
}

/** Numbers of changes grow within an epoch; where only deliveries were added, the time in the id decides. */
function byAge(a: SnapshotName, b: SnapshotName): number {
  return a.epoch - b.epoch || seqOf(a) - seqOf(b) || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function seqOf({ id }: SnapshotName): number {
  return Number(/\d+$/.exec(id)?.[0] ?? 0);
}
