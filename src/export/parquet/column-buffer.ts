import { freeBytes, nullCell } from "../columns/cells.ts";
import { maxRowGroupRows } from "./parquet-types.ts";

/** A value as it stands in the statistics of a column chunk. */
type Bound = number | bigint | boolean | Uint8Array;

/** The distinct values of a column chunk, and for each value the index of its distinct value. */
export interface Dictionary {
  /** For each distinct value the place where it first appears. */
  readonly firsts: readonly number[];
  /** Valid until the next `encode` of any column. */
  readonly indexes: Int32Array;
}

const maxDistinct = 16_384;
/** Shared by all columns of a thread, which are encoded one after another. */
const table = new Int32Array(4 * maxDistinct);
const hashes = new Int32Array(maxDistinct);
const indexes = new Int32Array(maxRowGroupRows);

/** The values of one column of the row group that is being filled: takes cells, gives encoded values. */
export abstract class ColumnBuffer {
  /** One for each row: 1 for a value, 0 for NULL. */
  readonly definitionLevels = new Uint8Array(maxRowGroupRows);
  rows = 0;
  /** Rows that are not NULL. */
  count = 0;
  readonly #nullable: boolean;

  constructor(nullable: boolean) {
    this.#nullable = nullable;
  }

  /** Adds the cell that begins at `from`. Returns where the next cell begins; -1: the value overflows the type. */
  add(cells: Uint8Array, from: number): number {
    if (cells[from] === nullCell) {
      if (!this.#nullable) return -1;
      this.definitionLevels[this.rows++] = 0;
      return from + 2;
    }
    const next = this.put(cells, from);
    if (next === -1) return -1;
    this.definitionLevels[this.rows++] = 1;
    this.count++;
    return next;
  }

  clear(): void {
    this.rows = 0;
    this.count = 0;
  }

  /** Frees the memory at once: what the columns of many tables held waited for a collection. It takes no more values. */
  release(): void {
    for (const array of this.arrays()) freeBytes(array);
  }

  /** What holds the values. */
  protected arrays(): readonly ArrayBufferView[] {
    return [];
  }

  /** Memory that the values take, roughly. */
  get sizeBytes(): number {
    return 8 * this.count;
  }

  /** Encodes the values without the NULLs; the bytes are valid until the next `add`. */
  encode() {
    const dictionary = this.findDictionary();
    /** All values, or the dictionary's distinct ones. */
    const plain = this.plain(dictionary?.firsts);
    return { plain, dictionary, ...this.#bounds(dictionary?.firsts) };
  }

  /** For the statistics; undefined without values. */
  #bounds(distinct: readonly number[] | undefined) {
    if (this.count === 0) return { min: undefined, max: undefined };
    let least = 0;
    let greatest = 0;
    const count = distinct?.length ?? this.count;
    for (let k = 1; k < count; k++) {
      const i = distinct ? (distinct[k] as number) : k;
      if (this.compare(i, least) < 0) least = i;
      else if (this.compare(i, greatest) > 0) greatest = i;
    }
    return { min: this.valueAt(least), max: this.valueAt(greatest) };
  }

  /**
   * Finds the distinct values in a hash table. Null: the type has no hashes, or more than a quarter of the values
   * are distinct: a dictionary should halve the size, as hyparquet-writer demands.
   */
  protected findDictionary(): Dictionary | null {
    if (this.hashAt(0) === null) return null;
    const most = Math.min(maxDistinct, Math.max(1, this.count >>> 2));
    // A power of two, so that at least half of the slots are empty.
    const mask = 2 ** Math.ceil(Math.log2(most * 2 + 2)) - 1;
    table.fill(0, 0, mask + 1);
    const firsts: number[] = [];
    for (let i = 0; i < this.count; i++) {
      const hash = this.hashAt(i) as number;
      let slot = (hash ^ (hash >>> 15)) & mask;
      let found = (table[slot] as number) - 1;
      while (found !== -1 && !(hashes[found] === hash && this.compare(firsts[found] as number, i) === 0)) {
        slot = (slot + 1) & mask;
        found = (table[slot] as number) - 1;
      }
      if (found === -1) {
        // Hopeless: nine in ten of the first 256 values are distinct.
        if (firsts.length === most || (i === 256 && firsts.length > 230)) return null;
        found = firsts.push(i) - 1;
        hashes[found] = hash;
        table[slot] = firsts.length;
      }
      indexes[i] = found;
    }
    return { firsts, indexes };
  }

  /** A value's hash for the dictionary; null: the type has none. */
  protected hashAt(_i: number): number | null {
    return null;
  }

  /** Stores the value as number `count`; returns what `add` returns. */
  protected abstract put(cells: Uint8Array, from: number): number;
  /** Compares two values in the order of the logical type. */
  protected abstract compare(i: number, j: number): number;
  protected abstract valueAt(i: number): Bound;
  /** PLAIN encoding of all values, or of those with the indexes that a dictionary gives. */
  protected abstract plain(indexes: readonly number[] | undefined): Uint8Array;
}
