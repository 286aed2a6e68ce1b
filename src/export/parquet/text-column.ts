import { cellEnd } from "../cells.ts";
import { Column, mostRows, type Values } from "./column.ts";
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
      (i, j) => this.#hashes[i] === this.#hashes[j] && compare(this.#at(i), this.#at(j)) === 0,
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
    let min = this.#at(0);
    let max = min;
    const count = distinct?.length ?? this.count;
    for (let k = 1; k < count; k++) {
      const text = this.#at(distinct ? (distinct[k] as number) : k);
      if (compare(text, min) < 0) min = text;
      else if (compare(text, max) > 0) max = text;
    }
    return { min: min.slice(), max: max.slice() };
  }
}

function writeLength(bytes: Uint8Array, at: number, length: number): void {
  bytes[at] = length;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length >>> 16;
  bytes[at + 3] = length >>> 24;
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
