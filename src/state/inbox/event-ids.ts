import { Meta } from "../meta.ts";
import type { Db } from "../../store/database.ts";
import { Repository } from "../../store/repository.ts";
import { HashedIds } from "./hashed-ids.ts";

/**
 * Ids that are filed at once, in order, so that many share a page of the index: four times as many spare an event 1 µs
 * of CPU. Until then they are in memory, 16 kB for each company that has events.
 */
const mostUnfiledByDefault = 512;
const filedKey = "inbox_filed";

/**
 * Which events the inbox holds, for ever (I7). The latest are in memory; when they are many, they are filed in an
 * index all at once. An index that is written with each event would add a page to every delivery: a plain UNIQUE
 * index costs a delivery a sixth more CPU.
 *
 * Guarantee: memory never knows more than what is committed, so a rollback needs no care.
 * Source of truth: `_inbox`. `_inbox_ids` has every event up to `inbox_filed` of `_meta`, which is written with it;
 * later ones are read from the inbox at each `begin`, whichever connection wrote them.
 * Worst outcome of a crash: some hundreds of rows are read again.
 */
export class EventIds extends Repository {
  private readonly meta: Meta;
  private readonly mostUnfiled: number;
  private readonly unfiled: HashedIds;
  private readonly inThis = new Set<string>();
  private lastSeq = 0;
  private filedSeq = 0;

  constructor(db: Db, mostUnfiled = mostUnfiledByDefault) {
    super(db);
    this.mostUnfiled = mostUnfiled;
    // The ids of a group or two come on top before they are filed.
    this.unfiled = new HashedIds(2 * mostUnfiled);
    this.meta = new Meta(db);
  }

  /** Call first in a transaction: learns what was committed meanwhile. */
  begin(): void {
    this.inThis.clear();
    this.forget(this.filed());
    const lastStored = this.selectColumn<number | null>("SELECT max(seq) FROM _inbox")[0] ?? 0;
    if (lastStored < Math.max(this.lastSeq, this.filedSeq)) this.reset();
    const sql = "SELECT event_id AS eventId, seq FROM _inbox WHERE seq > ? ORDER BY seq";
    const from = Math.max(this.lastSeq, this.filedSeq);
    for (const { eventId, seq } of this.selectAll<{ eventId: string; seq: number }>(sql, from)) {
      this.unfiled.add(hashOf(eventId), seq);
      this.lastSeq = seq;
    }
  }

  /** Is the event stored, or added in this transaction? */
  has(eventId: string): boolean {
    if (this.inThis.has(eventId)) return true;
    const key = hashOf(eventId);
    if (this.unfiled.seqsOf(key).some((seq) => this.eventIdOf(seq) === eventId)) return true;
    if (!this.exists("SELECT 1 FROM _inbox_ids WHERE hash = ?", key)) return false;
    const sql = "SELECT event_id FROM _inbox_ids JOIN _inbox USING (seq) WHERE hash = ?";
    return this.selectColumn(sql, key).includes(eventId);
  }

  /** The number of a stored event, whichever connection wrote it; null: it never came. */
  find(eventId: string): number | null {
    const sql = `SELECT seq FROM _inbox WHERE event_id = ?
      AND (seq > ? OR seq IN (SELECT seq FROM _inbox_ids WHERE hash = ?))`;
    return this.selectColumn<number>(sql, eventId, this.filed(), hashOf(eventId))[0] ?? null;
  }

  /** The event was written in this transaction. */
  add(eventId: string): void {
    this.inThis.add(eventId);
  }

  /** Call last in a transaction. Files older ids when they are many; its own are filed by a later transaction. */
  end(): void {
    if (this.unfiled.size >= this.mostUnfiled) this.file();
  }

  private file(): void {
    const sql = "INSERT OR IGNORE INTO _inbox_ids (hash, seq) VALUES (?, ?)";
    for (const [key, seq] of this.unfiled.entries().toSorted(([a], [b]) => a - b))
      this.execute(sql, key, seq);
    this.meta.set(filedKey, this.lastSeq);
  }

  /** The number of an event that is not filed under its id; null: all are. Reads the whole inbox. */
  misfiled(): number | null {
    const sql = `SELECT i.event_id AS eventId, i.seq, x.hash FROM _inbox i LEFT JOIN _inbox_ids x ON x.seq = i.seq
      WHERE i.seq <= ? ORDER BY i.seq`;
    type Filed = { readonly eventId: string; readonly seq: number; readonly hash: number | null };
    for (const { eventId, seq, hash } of this.statement(sql).iterate(this.filed()) as IterableIterator<Filed>)
      if (hash !== hashOf(eventId)) return seq;
    return null;
  }

  /** Files all events anew, in one transaction of the caller. */
  refile(): void {
    this.execute("DELETE FROM _inbox_ids");
    this.reset();
    this.begin();
    this.file();
  }

  /** The latest events were deleted from outside, and their numbers are given again. */
  private reset(): void {
    this.unfiled.clear();
    this.lastSeq = 0;
    this.filedSeq = 0;
    this.meta.set(filedKey, 0);
  }

  private filed(): number {
    return Number(this.meta.get(filedKey) ?? 0);
  }

  /** Removes from memory what a committed transaction has filed. */
  private forget(filedSeq: number): void {
    if (filedSeq === this.filedSeq) return;
    this.filedSeq = filedSeq;
    this.unfiled.removeThrough(filedSeq);
  }

  private eventIdOf(seq: number): string | undefined {
    return this.selectColumn<string>("SELECT event_id FROM _inbox WHERE seq = ?", seq)[0];
  }
}

/** 53 bits, mixed as in cyrb53 (public domain). Two ids with the same hash cost one more query. */
function hashOf(eventId: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < eventId.length; i++) {
    const code = eventId.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
