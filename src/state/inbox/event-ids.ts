import { Meta } from "../meta.ts";
import type { Db } from "../../store/database.ts";
import { removeRows } from "../../store/own-tables/own-rows.ts";
import { statement } from "../../store/own-tables/statement.ts";
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
    const lastStored = lastSeq.value(this.db) ?? 0;
    if (lastStored < Math.max(this.lastSeq, this.filedSeq)) this.reset();
    for (const { eventId, seq } of idsAfter.all(this.db, { seq: Math.max(this.lastSeq, this.filedSeq) })) {
      this.unfiled.add(hashOf(eventId), seq);
      this.lastSeq = seq;
    }
  }

  /** Is the event stored, or added in this transaction? */
  has(eventId: string): boolean {
    if (this.inThis.has(eventId)) return true;
    const key = hashOf(eventId);
    if (this.unfiled.seqsOf(key).some((seq) => this.eventIdOf(seq) === eventId)) return true;
    return (
      filedUnder.value(this.db, { key }) !== undefined && idsUnder.column(this.db, { key }).includes(eventId)
    );
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
    for (const [hash, seq] of this.unfiled.entries().toSorted(([a], [b]) => a - b))
      fileId.run(this.db, { hash, seq });
    this.meta.set(filedKey, this.lastSeq);
  }

  /** The number of an event that is not filed under its id; null: all are. Reads the whole inbox. */
  misfiled(): number | null {
    for (const { eventId, seq, hash } of filed.iterate(this.db, { upTo: this.filed() }))
      if (hash !== hashOf(eventId)) return seq;
    return null;
  }

  /** Files all events anew, in one transaction of the caller. */
  refile(): void {
    removeRows(this.db, "_inbox_ids", {});
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
    return idOf.value(this.db, { seq });
  }
}

const lastSeq = statement((db) => db.selectFrom("_inbox").select(db.fn.max<number | null>("seq").as("seq")));
const idsAfter = statement((db, p: { seq: number }) =>
  db.selectFrom("_inbox").select(["event_id as eventId", "seq"]).where("seq", ">", p.seq).orderBy("seq"),
);
const idOf = statement((db, p: { seq: number }) =>
  db.selectFrom("_inbox").select("event_id").where("seq", "=", p.seq),
);
const filedUnder = statement((db, p: { key: number }) =>
  db.selectFrom("_inbox_ids").select("seq").where("hash", "=", p.key),
);
const idsUnder = statement((db, p: { key: number }) => {
  const events = db.selectFrom("_inbox_ids as x").innerJoin("_inbox as i", "i.seq", "x.seq");
  return events.select("i.event_id").where("x.hash", "=", p.key);
});
const fileId = statement((db, p: { hash: number; seq: number }) =>
  db.insertInto("_inbox_ids").orIgnore().values({ hash: p.hash, seq: p.seq }),
);
const filed = statement((db, p: { upTo: number }) => {
  const events = db.selectFrom("_inbox as i").leftJoin("_inbox_ids as x", "x.seq", "i.seq");
  return events
    .select(["event_id as eventId", "i.seq", "x.hash"])
    .where("i.seq", "<=", p.upTo)
    .orderBy("i.seq");
});

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
