import { crc32 } from "node:zlib";
import { Meta } from "../meta.ts";
import type { Db } from "../../store/database.ts";
import { among, highest, removeRows, statement, Repository } from "../../store/own-tables/statement.ts";

/**
 * Ids that are filed at once, in order, so that many share a page of the index: four times as many spare an event 1 µs
 * of CPU. Until then they are in memory, 60 kB for each company that has events.
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
  /** Numbers of events by their id, in the order they came. */
  private readonly unfiled = new Map<string, number>();
  /** Stored ones among those of this transaction. */
  private readonly known = new Set<string>();
  private lastSeq = 0;
  private filedSeq = 0;

  constructor(db: Db, mostUnfiled = mostUnfiledByDefault) {
    super(db);
    this.mostUnfiled = mostUnfiled;
    this.meta = new Meta(db);
  }

  /** Call first in a transaction, with all events that it is about: learns what was committed meanwhile. */
  begin(eventIds: readonly string[]): void {
    this.known.clear();
    this.forget(this.filed());
    const lastStored = highest(this.db, "_inbox", "seq");
    if (lastStored < Math.max(this.lastSeq, this.filedSeq)) this.reset();
    for (const { eventId, seq } of idsAfter.all(this.db, { seq: Math.max(this.lastSeq, this.filedSeq) })) {
      this.unfiled.set(eventId, seq);
      this.lastSeq = seq;
    }
    for (const eventId of idsUnder.column(this.db, { hashes: eventIds.map((id) => crc32(id)) }))
      this.known.add(eventId);
  }

  /** Is the event stored, or added in this transaction? */
  has(eventId: string): boolean {
    return this.known.has(eventId) || this.unfiled.has(eventId);
  }

  /** The number of a stored event, whichever connection wrote it; null: it never came. */
  find(eventId: string): number | null {
    return seqOf.value(this.db, { eventId, filed: this.filed(), hash: crc32(eventId) }) ?? null;
  }

  /** The event was written in this transaction. */
  add(eventId: string): void {
    this.known.add(eventId);
  }

  /** Call last in a transaction. Files older ids when they are many; its own are filed by a later transaction. */
  end(): void {
    if (this.unfiled.size >= this.mostUnfiled) this.file();
  }

  private file(): void {
    const ids = [...this.unfiled].map(([eventId, seq]) => [crc32(eventId), seq]);
    this.execute(
      "INSERT OR IGNORE INTO _inbox_ids SELECT value ->> 0, value ->> 1 FROM json_each(?) ORDER BY 1",
      JSON.stringify(ids),
    );
    this.meta.set(filedKey, this.lastSeq);
  }

  /** The number of an event that is not filed under its id; null: all are. Reads the whole inbox. */
  misfiled(): number | null {
    for (const { eventId, seq, hash } of filed.iterate(this.db, { upTo: this.filed() }))
      if (hash !== crc32(eventId)) return seq;
    return null;
  }

  /** Files all events anew, in one transaction of the caller. */
  refile(): void {
    removeRows(this.db, "_inbox_ids", {});
    this.reset();
    this.begin([]);
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
    for (const [eventId, seq] of this.unfiled) {
      if (seq > filedSeq) break;
      this.unfiled.delete(eventId);
    }
  }
}

const idsAfter = statement((db, p: { seq: number }) =>
  db.selectFrom("_inbox").select(["event_id as eventId", "seq"]).where("seq", ">", p.seq).orderBy("seq"),
);
const seqOf = statement((db, p: { eventId: string; filed: number; hash: number }) => {
  const filedSeqs = db.selectFrom("_inbox_ids").select("seq").where("hash", "=", p.hash);
  const events = db.selectFrom("_inbox").select("seq").where("event_id", "=", p.eventId);
  return events.where((i) => i.or([i("seq", ">", p.filed), i("seq", "in", filedSeqs)]));
});
/** Filed under their CRC-32: ids that have the same are found with each other. */
const idsUnder = statement((db, p: { hashes: readonly number[] }) => {
  const events = db.selectFrom("_inbox_ids as x").innerJoin("_inbox as i", "i.seq", "x.seq");
  return events.select("i.event_id").where("x.hash", "in", among(p.hashes));
});
const filed = statement((db, p: { upTo: number }) => {
  const events = db.selectFrom("_inbox as i").leftJoin("_inbox_ids as x", "x.seq", "i.seq");
  return events
    .select(["event_id as eventId", "i.seq", "x.hash"])
    .where("i.seq", "<=", p.upTo)
    .orderBy("i.seq");
});
