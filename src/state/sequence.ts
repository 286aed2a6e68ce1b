import type { Db } from "../store/database.ts";
import type { Meta } from "./meta.ts";

/**
 * The order in which this mirror saw things: one more at each sending, receiving and reason to read
 * again. Local and monotonic, so that no clock is trusted (I3, I4).
 *
 * The last number is written with whatever a transaction writes; what was handed out and not written
 * belonged to requests that died with the process.
 */
export class Sequence {
  private last: number;
  private stored = false;
  private readonly meta: Meta;

  constructor(db: Db, meta: Meta) {
    this.meta = meta;
    const highest = (sql: string) => Number(db.prepare(sql).pluck().get() ?? 0);
    this.last = Math.max(
      (meta.get("seq") as number | null) ?? 0,
      highest("SELECT max(dirty_seq) FROM _work"),
      highest("SELECT max(started_seq) FROM _listings"),
      // An event that found its record in the queue already is noted here alone.
      highest("SELECT max(dirty_seq) FROM _inbox WHERE state = 'waiting'"),
    );
  }

  next(): number {
    this.last += 1;
    return this.last;
  }

  /** A number went into a fence: the transaction must remember how far the sequence is. */
  markStored(): void {
    this.stored = true;
  }

  /** At the end of a transaction. One that stored no number writes nothing. */
  save(): void {
    if (this.stored) this.meta.set("seq", this.last);
    this.stored = false;
  }
}
