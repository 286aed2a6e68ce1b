import { mostRows } from "./rows.ts";

/** Distinct values and, for each value, which of them it is. */
export interface Dictionary {
  /** For each distinct value, the place of its first appearance. */
  readonly firsts: readonly number[];
  /** Only until the next dictionary is made. */
  readonly indexes: Uint16Array;
}

/** One for all: a thread makes one dictionary after another, and memory given to the collector comes back late. */
const mostDistinct = 16_384;
const table = new Int32Array(4 * mostDistinct);
const indexes = new Uint16Array(mostRows);

/**
 * Finds distinct values by hash. Null where they are too many to be worth it: a dictionary has to halve what
 * the values take, as hyparquet-writer has it, so the search is given up at a quarter of them.
 */
export function dictionaryOf(
  count: number,
  hashAt: (i: number) => number,
  isSame: (i: number, j: number) => boolean,
): Dictionary | null {
  const most = Math.min(mostDistinct, Math.max(1, count >>> 2));
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

/** Half of the table stays free. */
function tableSize(most: number): number {
  return 2 ** Math.ceil(Math.log2(most * 2 + 2));
}

/** Of the first 256 nine in ten were new. */
function isHopeless(seen: number, distinct: number): boolean {
  return seen === 256 && distinct > 230;
}
