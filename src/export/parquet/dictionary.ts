import { maxRowGroupRows } from "./parquet-types.ts";

/** The distinct values of a column chunk, and for each value the index of its distinct value. */
export interface Dictionary {
  /** For each distinct value the place where it first appears. */
  readonly firsts: readonly number[];
  /** Valid until the next call of `dictionaryOf`. */
  readonly indexes: Uint16Array;
}

const maxDistinct = 16_384;
/** Shared by all columns of a thread, which are encoded one after another. */
const table = new Int32Array(4 * maxDistinct);
const indexes = new Uint16Array(maxRowGroupRows);

/**
 * Finds the distinct values of a column chunk in a hash table. Null if there are more than a quarter of the
 * values: a dictionary should halve the size, as hyparquet-writer demands.
 */
export function dictionaryOf(
  count: number,
  hashAt: (i: number) => number,
  isSame: (i: number, j: number) => boolean,
): Dictionary | null {
  const most = Math.min(maxDistinct, Math.max(1, count >>> 2));
  const mask = tableSize(most) - 1;
  table.fill(0, 0, mask + 1);
  const firsts: number[] = [];
  for (let i = 0; i < count; i++) {
    const hash = hashAt(i);
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const found = (table[slot] as number) - 1;
      if (found === -1) {
        if (firsts.length === most || isHopeless(i, firsts.length)) return null;
        firsts.push(i);
        table[slot] = firsts.length;
        indexes[i] = firsts.length - 1;
        break;
      }
      if (isSame(firsts[found] as number, i)) {
        indexes[i] = found;
        break;
      }
      slot = (slot + 1) & mask;
    }
  }
  return { firsts, indexes };
}

/** Slots of the hash table: a power of two, at least half of them empty. */
function tableSize(most: number): number {
  return 2 ** Math.ceil(Math.log2(most * 2 + 2));
}

/** Nine in ten of the first 256 values are distinct. */
function isHopeless(seen: number, distinct: number): boolean {
  return seen === 256 && distinct > 230;
}
