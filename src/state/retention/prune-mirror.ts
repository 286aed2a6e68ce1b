import { isoTime, type Clock } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import { inTransaction, type Db } from "../../store/database.ts";
import { Changes } from "../../store/apply/change-log.ts";
import { oldChanges, oldInboxBodies, oldRuns, type AgeLimit, type Removable } from "./old-rows.ts";
import { unusedBytes } from "./sizes.ts";

export interface PruneParts {
  /** The mirror; on a dry run any connection to it, otherwise the one of the writer. */
  readonly db: Db;
  /** How long what is kept; null: for ever. */
  readonly retention: Config["retention"];
  readonly clock: Clock;
  /** Ends it between two transactions. */
  readonly signal: AbortSignal;
  /** Finds what would go, and writes nothing. @default false */
  readonly dryRun?: boolean;
}

/** How many rows went, and about how many bytes. */
interface Removed {
  rows: number;
  bytes: number;
}

/** What `prune --json` prints for a company. */
export interface PruneReport {
  readonly dry_run: boolean;
  /** False: it was ended early; the next one goes on. */
  readonly finished: boolean;
  readonly runs: Removed;
  readonly inbox_bodies: Removed;
  /** `first_seq`: where the change log begins now. */
  readonly changes: Removed & { readonly first_seq: number };
  /** Given back to the file system, and free within the file afterwards. */
  readonly released_bytes: number;
  readonly free_bytes: number;
}

/** Between two transactions, so that deliveries and reads take their turn. */
const pauseMs = 20;
/** About a megabyte. */
const pagesAtOnce = 256;

/**
 * Removes what the config keeps no longer, and gives the space back, in small transactions with pauses between.
 *
 * Guarantee: event ids, tombstones, rows, and whatever else is still read stay; each transaction leaves a whole mirror.
 * Source of truth: the mirror.
 * Worst outcome of a crash: the rest is removed by the next prune.
 */
export async function pruneMirror(parts: PruneParts): Promise<PruneReport> {
  const { db, retention, clock, signal, dryRun = false } = parts;
  const nowMs = clock.nowMs();
  const remove = (keptMs: number | null, find: (db: Db, limit: AgeLimit) => Removable) =>
    keptMs === null
      ? { rows: 0, bytes: 0 }
      : removeAll(parts, find(db, { until: isoTime(nowMs - keptMs), now: isoTime(nowMs) }));
  const runs = await remove(retention.runsMs, oldRuns);
  const inbox_bodies = await remove(retention.inboxBodiesMs, oldInboxBodies);
  const changes = await remove(retention.changesMs, oldChanges);
  const released_bytes = dryRun ? 0 : await giveBack(parts);
  return {
    dry_run: dryRun,
    finished: !signal.aborted,
    runs,
    inbox_bodies,
    changes: { ...changes, first_seq: new Changes(db).firstSeq(dryRun ? changes.rows : 0) },
    released_bytes,
    free_bytes: unusedBytes(db),
  };
}

async function removeAll(parts: PruneParts, removable: Removable): Promise<Removed> {
  const { db, clock, signal, dryRun = false } = parts;
  const total = { rows: 0, bytes: 0 };
  for (let from: number | null = removable.start; from !== null && !signal.aborted;) {
    const { rows, bytes, next, remove } = removable.find(from);
    if (rows > 0 && !dryRun) inTransaction(db, remove);
    total.rows += rows;
    total.bytes += bytes;
    from = next;
    if (from !== null) await clock.sleep(pauseMs, signal);
  }
  return total;
}

/** Gives free pages at once back to the file system, some at a time. Returns how many bytes. */
async function giveBack({ db, clock, signal }: PruneParts): Promise<number> {
  const before = unusedBytes(db);
  while (unusedBytes(db) > 0 && !signal.aborted) {
    inTransaction(db, () => db.pragma(`incremental_vacuum(${pagesAtOnce})`));
    await clock.sleep(pauseMs, signal);
  }
  return before - unusedBytes(db);
}
