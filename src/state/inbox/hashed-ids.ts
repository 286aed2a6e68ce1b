/**
 * Hashes of ids with a number each, in the order they are added; numbers only grow. 16 bytes an id, outside the
 * heap, and no string of a delivery is held: hundreds of companies have hundreds of ids each.
 */
export class HashedIds {
  private hashes = new Float64Array(0);
  private seqs = new Float64Array(0);
  private length = 0;
  private readonly capacity: number;

  /** @param capacity memory for so many ids is taken with the first one; more grow it */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.length;
  }

  /** Adds an id; `seq` is larger than all before. */
  add(hash: number, seq: number): void {
    if (this.length === this.hashes.length) this.grow();
    this.hashes[this.length] = hash;
    this.seqs[this.length] = seq;
    this.length++;
  }

  /** The numbers of all ids with this hash: nearly always one or none. */
  seqsOf(hash: number): readonly number[] {
    const found: number[] = [];
    const hashes = this.hashes.subarray(0, this.length);
    for (let at = hashes.indexOf(hash); at !== -1; at = hashes.indexOf(hash, at + 1))
      found.push(this.seqs[at] ?? 0);
    return found;
  }

  /** All pairs of hash and number. */
  entries(): readonly (readonly [hash: number, seq: number])[] {
    return Array.from({ length: this.length }, (_, i) => [this.hashes[i] ?? 0, this.seqs[i] ?? 0]);
  }

  /** Removes the ids up to a number. */
  removeThrough(seq: number): void {
    const after = this.seqs.subarray(0, this.length).findIndex((one) => one > seq);
    const from = after === -1 ? this.length : after;
    this.hashes.copyWithin(0, from, this.length);
    this.seqs.copyWithin(0, from, this.length);
    this.length -= from;
  }

  clear(): void {
    this.length = 0;
  }

  private grow(): void {
    const [hashes, seqs] = [this.hashes, this.seqs];
    const length = Math.max(this.capacity, 2 * hashes.length);
    this.hashes = new Float64Array(length);
    this.seqs = new Float64Array(length);
    this.hashes.set(hashes);
    this.seqs.set(seqs);
  }
}
