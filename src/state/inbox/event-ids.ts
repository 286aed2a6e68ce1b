import { Meta } from "../meta.ts";
import type { Db, Statement } from "../../store/database.ts";

/** So many ids stand in memory only, at most: filed at once and sorted, many of them share a page of the index. */
const usualMostUnfiled = 8_192;
const filedKey = "inbox_filed";

/**
 * Which events the inbox holds, for ever (I7). An index kept with every event would cost each delivery a page
 * written somewhere in it. So what came last is known in memory, and filed in the index, sorted, when it has
 * become many.
 *
 * Source of truth: the inbox. `_inbox_ids` has every event up to `inbox_filed`, which is written with it; those
 * after it are read from the inbox at each `begin`, whoever wrote them. Nothing in memory is ahead of what is
 * committed, so a rollback needs no care, and a crash costs the reading of some thousands of rows.
 */
export class EventIds {
  private readonly meta: Meta;
  private readonly mostUnfiled: number;
  /** Id to number, in the order of their numbers. */
  private readonly unfiled = new Map<string, number>();
  private readonly inThis = new Set<string>();
  private lastSeq = 0;
  private filedSeq = 0;
  private readonly selectLast: Statement;
  private readonly selectNewer: Statement;
  private readonly selectHash: Statement;
  private readonly selectFiled: Statement;
  private readonly selectOne: Statement;
  private readonly insert: Statement;

  constructor(db: Db, mostUnfiled = usualMostUnfiled) {
    this.mostUnfiled = mostUnfiled;
    this.meta = new Meta(db);
    this.selectLast = db.prepare("SELECT max(seq) FROM _inbox").pluck();
    this.selectNewer = db.prepare("SELECT event_id, seq FROM _inbox WHERE seq > ? ORDER BY seq").raw();
    this.selectHash = db.prepare("SELECT 1 FROM _inbox_ids WHERE hash = ?").pluck();
    this.selectFiled = db
      .prepare("SELECT event_id FROM _inbox_ids JOIN _inbox USING (seq) WHERE hash = ?")
      .pluck();
    this.selectOne = db
      .prepare(
        `SELECT seq FROM _inbox WHERE event_id = @eventId
           AND (seq > @filed OR seq IN (SELECT seq FROM _inbox_ids WHERE hash = @key))`,
      )
      .pluck();
    this.insert = db.prepare("INSERT OR IGNORE INTO _inbox_ids (hash, seq) VALUES (?, ?)");
  }

  /** First in a transaction: what was committed meanwhile. */
  begin(): void {
    this.inThis.clear();
    this.forget(this.filed());
    if (Number(this.selectLast.get() ?? 0) < Math.max(this.lastSeq, this.filedSeq)) this.beginAnew();
    const newer = this.selectNewer.all(Math.max(this.lastSeq, this.filedSeq));
    for (const [eventId, seq] of newer as [string, number][]) {
      this.unfiled.set(eventId, seq);
      this.lastSeq = seq;
    }
  }

  has(eventId: string): boolean {
    if (this.inThis.has(eventId) || this.unfiled.has(eventId)) return true;
    const key = hashOf(eventId);
    return this.selectHash.get(key) !== undefined && this.selectFiled.all(key).includes(eventId);
  }

  /** The number of an event, whoever wrote it; null: it never came. */
  find(eventId: string): number | null {
    const filed = this.filed();
    return (this.selectOne.get({ eventId, filed, key: hashOf(eventId) }) as number | undefined) ?? null;
  }

  /** It was written in this transaction. */
  add(eventId: string): void {
    this.inThis.add(eventId);
  }

  /** Last in a transaction. What it adds itself is filed by a later one. */
  end(): void {
    if (this.unfiled.size < this.mostUnfiled) return;
    const entries = [...this.unfiled].map(([eventId, seq]) => [hashOf(eventId), seq] as const);
    for (const [key, seq] of entries.toSorted(([a], [b]) => a - b)) this.insert.run(key, seq);
    this.meta.set(filedKey, this.lastSeq);
  }

  /** Somebody deleted what came last, and its numbers are given out again. */
  private beginAnew(): void {
    this.unfiled.clear();
    this.lastSeq = 0;
    this.filedSeq = 0;
    this.meta.set(filedKey, 0);
  }

  private filed(): number {
    return Number(this.meta.get(filedKey) ?? 0);
  }

  /** What a committed transaction has filed. */
  private forget(filedSeq: number): void {
    if (filedSeq === this.filedSeq) return;
    this.filedSeq = filedSeq;
    for (const [eventId, seq] of this.unfiled) {
      if (seq > filedSeq) break;
      this.unfiled.delete(eventId);
    }
  }
}

/** 53 bits, mixed as in cyrb53 (public domain): what two ids share by chance costs one more look. */
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
