import { cellEnd } from "../columns/cells.ts";
import { Column, type Values } from "./column-buffer.ts";
import { mostRows } from "./rows.ts";
import { dictionaryOf, type Dictionary } from "./dictionary.ts";

/** From here on the system's copying is faster than a loop. */
const longText = 64;

/** Texts, kept as they go into the file: each with its length before it. */
export class TextColumn extends Column {
  #bytes: Uint8Array = new Uint8Array(64_000);
  readonly #starts = new Int32Array(mostRows + 1);
  readonly #hashes = new Int32Array(mostRows);
  /** Are hashes kept in this group? Of a column whose texts differ, most groups are spared them. */
  #hashing = true;
  #groups = 0;

  override get sizeBytes(): number {
    return this.#starts[this.count] as number;
  }

  /** Looks for the end first, so that nothing but bytes is left to do in the loop that copies. */
  protected put(cells: Uint8Array, from: number): number {
    const end = this.#hashing ? this.#hashed(cells, from) : plainEndOf(cells, from);
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

  #hashed(cells: Uint8Array, from: number): number {
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

  values(): Values {
    const of = this.#hashing ? this.#dictionary() : null;
    this.#hashing = of !== null || ++this.#groups % 8 === 0;
    const dictionary = of && { plain: this.#gathered(of.firsts), of };
    return { plain: this.#bytes.subarray(0, this.sizeBytes), dictionary, ...this.#bounds(of?.firsts) };
  }

  #dictionary(): Dictionary | null {
    const hashes = this.#hashes;
    return dictionaryOf(
      this.count,
      (i) => hashes[i] as number,
      (i, j) => hashes[i] === hashes[j] && this.#compare(i, j) === 0,
    );
  }

  #at(i: number): Uint8Array {
    return this.#bytes.subarray((this.#starts[i] as number) + 4, this.#starts[i + 1]);
  }

  #gathered(firsts: readonly number[]): Uint8Array {
    return Buffer.concat(firsts.map((i) => this.#bytes.subarray(this.#starts[i], this.#starts[i + 1])));
  }

  /** By UTF-8 bytes, as Parquet orders texts. */
  #bounds(distinct: readonly number[] | undefined): { min?: Uint8Array; max?: Uint8Array } {
    if (this.count === 0) return {};
    let min = 0;
    let max = 0;
    const count = distinct?.length ?? this.count;
    for (let k = 1; k < count; k++) {
      const i = distinct ? (distinct[k] as number) : k;
      if (this.#compare(i, min) < 0) min = i;
      else if (this.#compare(i, max) > 0) max = i;
    }
    return { min: this.#at(min).slice(), max: this.#at(max).slice() };
  }

  #compare(i: number, j: number): number {
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

function plainEndOf(cells: Uint8Array, from: number): number {
  let i = from;
  while (i < cells.length && cells[i] !== cellEnd) i++;
  return i;
}
