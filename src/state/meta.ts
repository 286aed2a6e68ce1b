import { isoTime } from "../base/clock.ts";
import { inTransaction, type Db } from "../store/database.ts";
import { Repository } from "../store/repository.ts";

/** Small facts about the mirror itself by key, as JSON, in table `_meta`. */
export class Meta extends Repository {
  /** null: never set. */
  get(key: string): unknown {
    const [value] = this.selectColumn<string>("SELECT value FROM _meta WHERE key = ?", key);
    return value === undefined ? null : (JSON.parse(value) as unknown);
  }

  set(key: string, value: unknown): void {
    const sql =
      "INSERT INTO _meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    this.execute(sql, key, JSON.stringify(value));
  }
}

/** Where the mirror keeps its identity. */
export const identityKey = "identity";

/** The company a mirror belongs to (I10). The token itself is never stored, only a salted fingerprint. */
export interface Identity {
  readonly name: string;
  readonly salt: string;
  readonly fingerprint: string;
  /** From document snapshots, for messages; null until one was mirrored. */
  readonly businessId: string | null;
}

/** The company a mirror belongs to; null before its first run. */
export function pinnedIdentity(meta: Meta): Identity | null {
  return meta.get(identityKey) as Identity | null;
}

/** How far the archive's manifest was when the mirror last took it over. */
export interface ArchivePosition {
  readonly lines: number;
  readonly bytes: number;
  /** SHA-256 of the last line, which holds that of the line before, and so on. */
  readonly head: string;
}

/** Where the mirror notes how far the manifest was. */
export const archivePositionKey = "files_archive";

/** Null: the mirror knows of no stored files. */
export function readArchivePosition(db: Db): ArchivePosition | null {
  return new Meta(db).get(archivePositionKey) as ArchivePosition | null;
}

/**
 * Where a mirror notes how much of the fleet's inbox it holds: the number of the last delivery, written with it.
 */
export const inboxPositionKey = "fleet_inbox";

/** The number of the last delivery of the fleet's inbox that a mirror holds; 0: none. */
export function inboxPosition(meta: Pick<Meta, "get">): number {
  return Number(meta.get(inboxPositionKey) ?? 0);
}

/** Where the mirror notes of which shard of all companies the last run was one that began. */
const shardKey = "shard";

/** As `2/3`; null: the last run was of all companies. */
export function readShard(meta: Meta): string | null {
  return meta.get(shardKey) as string | null;
}

/** Notes the shard of a run that begins; writes nothing where it is that of the run before. */
export function noteShard(meta: Meta, shard: string | null): void {
  if (readShard(meta) !== shard) meta.set(shardKey, shard);
}

/** Where the mirror notes that it was restored from a backup. */
const restoredKey = "restored";

/** SQL: id of the last run that the backup knows; 0 where the mirror was never restored. */
export const lastBeforeRestore = `coalesce((SELECT value ->> 'last_run' FROM _meta WHERE key = '${restoredKey}'), 0)`;

/** How far the lost mirror can have been ahead of the backup: its changes keep their numbers to themselves. */
const skippedSeqs = 1_000_000_000;

/** A mirror that was restored from a backup. Times are ISO. */
export interface Restored {
  readonly at: string;
  /** When the backup was taken: what the service changed later may be unknown. */
  readonly taken_at: string;
  /** The last run that the backup knows: no later one continues it. */
  readonly last_run: number;
  /** The change log goes on here, so that nobody who follows it meets a number twice. */
  readonly first_seq: number;
}

/** How this mirror was restored last; null: it never was. */
export function readRestored(db: Db): Restored | null {
  return new Meta(db).get(restoredKey) as Restored | null;
}

/** A page is read in the company of those before it: runs begin their lists again, and parents' lists begin again here. */
const forgetting = [
  "DELETE FROM _listings",
  "DELETE FROM _listing_pages",
  "DELETE FROM _commands",
  "DELETE FROM _work WHERE kind = 'list'",
  `UPDATE OR IGNORE _work SET
      target = 'child:' || (payload ->> 'parent') || ':' || (payload ->> 'parentId') || ':1',
      payload = json_object('parent', payload ->> 'parent', 'parentId', payload ->> 'parentId', 'page', 1)
    WHERE kind = 'child' AND payload ->> 'page' > 1`,
  "DELETE FROM _work WHERE kind = 'child' AND payload ->> 'page' > 1",
];

/**
 * Makes a copy of a mirror ready to go on: open runs are ended, open lists and their pages forgotten, and commands of
 * processes that are gone dropped. The queue's records stay: they are still to be read.
 */
export function markRestored(
  db: Db,
  { nowMs, takenAt }: { readonly nowMs: number; readonly takenAt: string },
): Restored {
  const highest = (sql: string) => Number(db.prepare(sql).pluck().get() ?? 0);
  const restored: Restored = {
    at: isoTime(nowMs),
    taken_at: takenAt,
    last_run: highest("SELECT max(id) FROM _runs"),
    first_seq: highest("SELECT max(seq) FROM _change_log") + skippedSeqs,
  };
  const endRuns = "UPDATE _runs SET finished_at = ?, outcome = 'interrupted' WHERE finished_at IS NULL";
  inTransaction(db, () => {
    db.prepare(endRuns).run(restored.at);
    for (const sql of forgetting) db.exec(sql);
    new Meta(db).set(restoredKey, restored);
  });
  return restored;
}
