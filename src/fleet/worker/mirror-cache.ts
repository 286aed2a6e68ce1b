import { readdir, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { makeFolders } from "../../base/files/atomic-file.ts";
import { dayMs } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { mirrorFiles } from "../../store/mirror-files.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { OwnersTable } from "../postgres/tables/owners-table.ts";
import type { SnapshotsTable } from "../postgres/tables/snapshots-table.ts";
import { discardMirror, discardReport, isPublished } from "../assignment/local-mirror.ts";

/** A mirror in the data folder that this node does not hold. */
interface ReleasedMirror {
  readonly company: string;
  readonly sizeBytes: number;
  readonly usedAtMs: number;
}

type DiskSpace = Readonly<Record<"freeBytes" | "totalBytes", number>>;

const longestMs = 7 * dayMs;
const mostBytes = 2_000_000_000;
/** Of the disk. */
const leastFreeShare = 0.1;

/**
 * Pure: the companies whose mirrors are not worth their place, the least recently used first: those of a week ago, and as
 * many as are over 2 GB, or as the disk needs to have a tenth free.
 */
export function surplusMirrors(mirrors: readonly ReleasedMirror[], disk: DiskSpace, nowMs: number): string[] {
  let keptBytes = mirrors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let { freeBytes } = disk;
  const oldestFirst = mirrors.toSorted((a, b) => a.usedAtMs - b.usedAtMs);
  return oldestFirst.flatMap(({ company, sizeBytes, usedAtMs }) => {
    const isOver = keptBytes > mostBytes || freeBytes < disk.totalBytes * leastFreeShare;
    if (!isOver && nowMs - usedAtMs <= longestMs) return [];
    keptBytes -= sizeBytes;
    freeBytes += sizeBytes;
    return [company];
  });
}

interface MirrorCache extends Pick<ProcessContext, "clock" | "log"> {
  readonly dataDir: string;
  readonly owners: Pick<OwnersTable, "ownersOf">;
  readonly snapshots: Pick<SnapshotsTable, "current">;
  /** Does this node hold the company, or begin to? */
  readonly isHeld: (company: string) => boolean;
}

/**
 * Removes mirrors of companies that this node has released and that are not worth their place: from the others it goes
 * on where it is the next owner, too.
 *
 * Guarantee: none is removed that is held, or whose last state is in no published snapshot.
 * Source of truth: Postgres; the files in the data folder.
 * Worst outcome of a crash: a file stays until the next time.
 *
 * @throws MirrorError `database` while Postgres is away
 */
export async function pruneMirrors(cache: MirrorCache): Promise<void> {
  const { dataDir, clock } = cache;
  makeFolders(dataDir);
  const { bavail, blocks, bsize } = await statfs(dataDir);
  const disk = { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  for (const company of surplusMirrors(await releasedMirrors(cache), disk, clock.nowMs()))
    await removeMirror(cache, company);
}

async function releasedMirrors({ dataDir, isHeld }: MirrorCache): Promise<ReleasedMirror[]> {
  const names = (await readdir(dataDir)).filter((name) => /^[^.].*\.db$/.test(name));
  const found: ReleasedMirror[] = [];
  for (const name of names.filter((one) => !/\.(?:report|budget)\.db$/.test(one))) {
    const company = name.slice(0, -".db".length);
    // It may be gone by now.
    const file = isHeld(company) ? null : await stat(path.join(dataDir, name)).catch(() => null);
    if (file) found.push({ company, sizeBytes: file.size, usedAtMs: file.mtimeMs });
  }
  return found;
}

async function removeMirror(cache: MirrorCache, company: string): Promise<void> {
  const { dataDir, owners, snapshots, isHeld, log } = cache;
  const files = mirrorFiles({ dataDir, report: { out: null } }, company);
  const published = await snapshots.current(company);
  const [owner] = await owners.ownersOf([company]);
  // Nothing waits from here on: this node cannot begin to hold it meanwhile.
  if (!owner || isHeld(company) || !isPublished(files, owner, published)) return;
  try {
    discardMirror(files);
    discardReport(files);
    log.debug("the mirror of a company that is not held was removed from this disk", { company });
  } catch (error) {
    const facts = { company, error: messageOf(error) };
    log.warn("the mirror of a company that is not held could not be removed", facts);
  }
}
