import type { RecordId } from "../../base/ids.ts";

/**
 * Reads in flight, and records that were read unchanged meanwhile (I3).
 *
 * Guarantee: a read never overwrites what a read that was sent later has confirmed.
 * Source of truth: this memory. A read that changes nothing writes nothing, and only reads in flight must be
 * held back; they end with the process.
 * Worst outcome of a crash: nothing, because no read is in flight afterwards.
 */
export class Fences {
  private readonly inFlight = new Set<number>();
  private readonly confirmed = new Map<string, Map<RecordId, number>>();

  begin(sentSeq: number): void {
    this.inFlight.add(sentSeq);
  }

  /** Its answer is applied, or none came. */
  end(sentSeq: number): void {
    this.inFlight.delete(sentSeq);
    if (this.inFlight.size === 0) this.confirmed.clear();
  }

  /** The record was read unchanged. Remembered while another read is in flight. */
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
