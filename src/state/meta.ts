import { createHash } from "node:crypto";
import { isoTime } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import { isObject } from "../json/literal.ts";
import { inTransaction, type Db } from "../store/database.ts";
import {
  highest,
  insertRow,
  parseStored,
  removeRows,
  Repository,
  selectRows,
  updateRows,
} from "../store/own-tables/statement.ts";

/** Small facts about the mirror itself by key, as JSON, in table `_meta`. */
export class Meta extends Repository {
  /** null: never set. */
  get(key: string, isSound?: (value: unknown) => boolean): unknown {
    const [row] = selectRows(this.db, "_meta", ["value"], { key });
    return row ? parseStored(this.db, row.value, isSound) : null;
  }

  set(key: string, value: unknown): void {
    insertRow(this.db, "_meta", { key, value: JSON.stringify(value) }, "or replace");
  }

  /** Sets it unless it is known: an unchanged run writes nothing. */
  note(key: string, value: string | number | null): void {
    if (this.get(key) !== value) this.set(key, value);
  }
}

export const identityKey = "identity";

/** The company a mirror belongs to (I10). The token itself is never stored, only a salted fingerprint. */
export interface PinnedIdentity {
  readonly name: string;
  readonly salt: string;
  readonly fingerprint: string;
  /** From document snapshots, for messages; null until one was mirrored. */
  readonly businessId: string | null;
}

/** The company a mirror belongs to; null before its first run. */
export function pinnedIdentity(meta: Meta): PinnedIdentity | null {
  return meta.get(identityKey, isIdentity) as PinnedIdentity | null;
}

export function isIdentity(value: unknown): boolean {
  if (!isObject(value)) return false;
  return ["name", "salt", "fingerprint"].every((key) => typeof value[key] === "string");
}

export function rememberIdentity({ meta }: { readonly meta: Meta }, identity: PinnedIdentity): void {
  meta.set(identityKey, identity);
}

export function fingerprintOf(token: string, salt: string): string {
  return createHash("sha256").update(`${salt}:${token}`).digest("hex");
}

/** How far the archive's manifest was when the mirror last took it over. */
export interface ArchivePosition {
  readonly lines: number;
  readonly bytes: number;
  /** SHA-256 of the last line, which holds that of the line before, and so on. */
  readonly head: string;
}

export const archivePositionKey = "files_archive";

/** Null: the mirror knows of no stored files. */
export function readArchivePosition(db: Db): ArchivePosition | null {
  return new Meta(db).get(archivePositionKey) as ArchivePosition | null;
}

/** How far a receiver of the config's `notify` is. */
export interface PushPosition {
  readonly log: string;
  /** Of the last change that it has taken, or does not get. */
  readonly seq: number;
  /** Why it did not take the next one; null: it has not failed since. */
  readonly error: string | null;
  /** Trying again does not help: the receiver says so, or nothing may be sent there. */
  readonly refuses: boolean;
}

/** Where the mirror notes it. By the key's digits: what stands before them may not be known. */
export function pushPositionKey(receiver: string): string {
  return `notify ${receiver.slice(-8)}`;
}

/** Where a mirror notes how much of the fleet's inbox it holds: the number of the last delivery, written with it. */
export const inboxPositionKey = "fleet_inbox";

/** The number of the last delivery of the fleet's inbox that a mirror holds; 0: none. */
export function inboxPosition(meta: Pick<Meta, "get">): number {
  return Number(meta.get(inboxPositionKey) ?? 0);
}

/** Where the mirror notes of which shard of all companies the last run was one that began, as `2/3`; null: of all. */
export const shardKey = "shard";
export const connectorKey = "connector";

/** Throws MirrorError `identity` for a mirror of another connector, to which its records mean something else (I10). */
export function assertConnector(db: Db, { name }: ConnectorDeclaration): void {
  const known = new Meta(db).get(connectorKey) ?? name;
  const hint = "Nothing was written. Give the company another name in the config, or move the mirror away.";
  const what = `the mirror is one of the connector ${JSON.stringify(known)}, and the config names "${name}"`;
  if (known !== name) throw new MirrorError("identity", what, { hint });
}

const restoredKey = "restored";

/** SQL: id of the last run that the backup knows; 0 where the mirror was never restored. */
export const lastBeforeRestore = `coalesce((SELECT value ->> 'last_run' FROM _meta WHERE key = '${restoredKey}'), 0)`;

/** A mirror that was restored from a backup. Times are ISO. */
interface Restored {
  readonly at: string;
  /** When the backup was taken: what the service changed later may be unknown. */
  readonly taken_at: string;
  /** The last run that the backup knows: no later one continues it. */
  readonly last_run: number;
}

/** How this mirror was restored last; null: it never was. */
export function readRestored(db: Db): Restored | null {
  return new Meta(db).get(restoredKey) as Restored | null;
}

/** A page is read in the company of those before it: runs begin their lists again, and parents' lists begin again here. */
const forgetting = [
  `UPDATE OR IGNORE _work SET
      target = 'child:' || (payload ->> 'parent') || ':' || (payload ->> 'parentId') || ':1',
      payload = json_object('parent', payload ->> 'parent', 'parentId', payload ->> 'parentId', 'page', 1)
    WHERE kind = 'child' AND payload ->> 'page' > 1`,
  "DELETE FROM _work WHERE kind = 'child' AND payload ->> 'page' > 1",
];

/**
 * Makes a copy of a mirror ready to go on: open runs are ended, open lists and their pages forgotten. The queue's records stay: they are still to be read.
 */
export function markRestored(db: Db, nowMs: number, takenAt: string): void {
  const restored: Restored = { at: isoTime(nowMs), taken_at: takenAt, last_run: highest(db, "_runs", "id") };
  inTransaction(db, () => {
    updateRows(db, "_runs", { finished_at: restored.at, outcome: "interrupted" }, { finished_at: null });
    removeRows(db, "_listings", {});
    removeRows(db, "_listing_pages", {});
    removeRows(db, "_work", { kind: "list" });
    for (const sql of forgetting) db.exec(sql);
    new Meta(db).set(restoredKey, restored);
  });
}
