import type { RecordId } from "../../base/ids.ts";

/**
 * Which reads are out, and what was confirmed unchanged while they were (I3).
 *
 * A read that changes nothing writes nothing, so its fence lives here, in memory: the only reads it
 * must hold back are those already sent, and those die with the process.
 */
export class Fences {
  private readonly inFlight = new Set<number>();
  private readonly confirmed = new Map<string, Map<RecordId, number>>();

  sent(seq: number): void {
    this.inFlight.add(seq);
  }

  settled(seq: number): void {
    this.inFlight.delete(seq);
    if (this.inFlight.size === 0) this.confirmed.clear();
  }

  /** The record was read unchanged; only worth remembering while an older read is still out. */
  confirm(resource: string, id: RecordId, sentSeq: number, receivedSeq: number): void {
    if (this.inFlight.size === 0 || (this.inFlight.size === 1 && this.inFlight.has(sentSeq))) return;
    let ids = this.confirmed.get(resource);
    if (!ids) this.confirmed.set(resource, (ids = new Map()));
    ids.set(id, receivedSeq);
  }

  /** Was the record last read, applied or confirmed, after this read was sent? */
  isStale(resource: string, id: RecordId, sentSeq: number, appliedSeq: number): boolean {
    const confirmedSeq = this.confirmed.get(resource)?.get(id) ?? 0;
    return sentSeq <= Math.max(appliedSeq, confirmedSeq);
  }
}
