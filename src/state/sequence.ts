import type { Db } from "../store/database.ts";
import type { Meta } from "./meta.ts";

/**
 * Numbers the moments of this mirror: one more at each sending, each receiving and each reason to read again. Local
 * and only rising, so that no clock is trusted (I3, I4).
 *
 * Guarantee: after a restart, no number is given that a table holds already.
 * Source of truth: key `seq` of `_meta`, written with whatever a transaction stores, and the numbers of queued work,
 * open listings and waiting events.
 * Worst outcome of a crash: numbers that were given and not stored are given again; their requests ended with the
 * process.
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
      // An event that found its record queued already is noted here alone.
      highest("SELECT max(dirty_seq) FROM _inbox WHERE state = 'waiting'"),
    );
  }

  /** The next number. */
  next(): number {
    this.last += 1;
    return this.last;
  }

  /** Numbers up to this one are given already, although the mirror does not know it. In a transaction. */
  skipTo(seq: number): void {
    this.last = Math.max(this.last, seq);
    this.stored = true;
  }

  /** Call when a transaction stores a number, so that `save` stores how far the sequence is. */
  markStored(): void {
    this.stored = true;
  }

  /** Call at the end of each transaction. Writes nothing where no number was stored. */
  save(): void {
    if (this.stored) this.meta.set("seq", this.last);
    this.stored = false;
  }
}
