import { cellEnd } from "../cells.ts";
import { Column, type Values } from "./column.ts";
import { mostRows } from "./rows.ts";
import { dictionaryOf } from "./dictionary.ts";

/** Texts, kept as they go into the file: each with its length before it. */
export class TextColumn extends Column {
  #bytes: Uint8Array = new Uint8Array(64_000);
  readonly #starts = new Int32Array(mostRows + 1);
  readonly #hashes = new Int32Array(mostRows);

  override get sizeBytes(): number {
    return this.#starts[this.count] as number;
  }

  protected put(cells: Uint8Array, from: number): number {
    const start = this.#starts[this.count] as number;
    let at = start + 4;
    let hash = 0x811c9dc5;
    let bytes: Uint8Array = this.#bytes;
    let i = from;
    for (; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === cellEnd) break;
      if (at >= bytes.length) bytes = this.#grow();
      bytes[at++] = byte;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    if (at > bytes.length) bytes = this.#grow();
    writeLength(bytes, start, at - start - 4);
    this.#hashes[this.count] = hash;
    this.#starts[this.count + 1] = at;
    return i + 1;
  }

  #grow(): Uint8Array {
    const larger = new Uint8Array(2 * this.#bytes.length);
    larger.set(this.#bytes);
    return (this.#bytes = larger);
  }

  values(): Values {
    const of = dictionaryOf(
      this.count,
      (i) => this.#hashes[i] as number,
      (i, j) => this.#hashes[i] === this.#hashes[j] && this.#compare(i, j) === 0,
    );
    const dictionary = of && { plain: this.#gathered(of.firsts), of };
    return { plain: this.#bytes.subarray(0, this.sizeBytes), dictionary, ...this.#bounds(of?.firsts) };
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

function writeLength(bytes: Uint8Array, at: number, length: number): void {
  bytes[at] = length;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length >>> 16;
  bytes[at + 3] = length >>> 24;
}
