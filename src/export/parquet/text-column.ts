import { cellEnd } from "../columns/cells.ts";
import { ColumnBuffer, type Dictionary } from "./column-buffer.ts";
import { maxRowGroupRows } from "./parquet-types.ts";

/** From this length on, copying by `set` is faster than a loop. */
const longText = 64;
/** A column whose texts differ tries a dictionary again after so many row groups. */
const dictionaryEvery = 8;

/** BYTE_ARRAY: texts in PLAIN encoding, each after its length in four bytes. */
export class TextColumn extends ColumnBuffer {
  #bytes: Uint8Array = new Uint8Array(64_000);
  readonly #starts = new Int32Array(maxRowGroupRows + 1);
  readonly #hashes = new Int32Array(maxRowGroupRows);
  /** Whether this row group computes hashes for a dictionary. */
  #hashing = true;
  #groups = 0;

  override get sizeBytes(): number {
    return this.#starts[this.count] as number;
  }

  /** Finds the end first, so that the copying loop does nothing else. */
  protected put(cells: Uint8Array, from: number): number {
    const end = this.#hashing ? this.#hashCell(cells, from) : endOfText(cells, from);
    const start = this.#starts[this.count] as number;
    const length = end - from;
    const at = start + 4;
    if (at + length > this.#bytes.length) this.#grow(at + length);
    const bytes = this.#bytes;
    bytes[start] = length;
    bytes[start + 1] = length >>> 8;
    bytes[start + 2] = length >>> 16;
    bytes[start + 3] = length >>> 24;
    if (length > longText) bytes.set(cells.subarray(from, end), at);
    else for (let i = 0; i < length; i++) bytes[at + i] = cells[from + i] as number;
    this.#starts[this.count + 1] = at + length;
    return end + 1;
  }

  /** Hashes the cell (FNV-1a); returns its end. */
  #hashCell(cells: Uint8Array, from: number): number {
    let hash = 0x811c9dc5;
    let i = from;
    for (; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === cellEnd) break;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    this.#hashes[this.count] = hash;
    return i;
  }

  #grow(least: number): void {
    const larger = new Uint8Array(2 * least);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }

  protected override findDictionary(): Dictionary | null {
    const found = super.findDictionary();
    this.#hashing = found !== null || ++this.#groups % dictionaryEvery === 0;
    return found;
  }

  protected override hashAt(i: number): number | null {
    return this.#hashing ? (this.#hashes[i] as number) : null;
  }

  protected plain(indexes: readonly number[] | undefined): Uint8Array {
    if (!indexes) return this.#bytes.subarray(0, this.sizeBytes);
    return Buffer.concat(indexes.map((i) => this.#bytes.subarray(this.#starts[i], this.#starts[i + 1])));
  }

  protected valueAt(i: number): Uint8Array {
    return this.#bytes.slice((this.#starts[i] as number) + 4, this.#starts[i + 1]);
  }

  /** Parquet orders texts by their UTF-8 bytes. */
  protected compare(i: number, j: number): number {
    const bytes = this.#bytes;
    const a = (this.#starts[i] as number) + 4;
    const b = (this.#starts[j] as number) + 4;
    const lengthOfA = (this.#starts[i + 1] as number) - a;
    const lengthOfB = (this.#starts[j + 1] as number) - b;
    const length = Math.min(lengthOfA, lengthOfB);
    for (let k = 0; k < length; k++) {
      const difference = (bytes[a + k] as number) - (bytes[b + k] as number);
      if (difference !== 0) return difference;
    }
    return lengthOfA - lengthOfB;
  }
}

/** Faster than `indexOf` for the short texts of most columns. */
function endOfText(cells: Uint8Array, from: number): number {
  let i = from;
  while (i < cells.length && cells[i] !== cellEnd) i++;
  return i;
}
