import { nullCell } from "../columns/cells.ts";
import type { Dictionary } from "./dictionary.ts";
import { mostRows } from "./rows.ts";

/** What a reader may skip a row group by. */
type Bound = number | bigint | boolean | Uint8Array;

/** The values that are not NULL, as Parquet stores them. */
export interface Values {
  readonly plain: Uint8Array;
  readonly dictionary: { readonly plain: Uint8Array; readonly of: Dictionary } | null;
  readonly min?: Bound | undefined;
  readonly max?: Bound | undefined;
}

/** One column of the row group that is being made: cells go in, values come out. */
export abstract class Column {
  /** 1 for a value, 0 for NULL. */
  readonly present = new Uint8Array(mostRows);
  rows = 0;
  /** Of them not NULL. */
  count = 0;
  readonly #nullable: boolean;

  constructor(nullable: boolean) {
    this.#nullable = nullable;
  }

  /** Takes the cell that begins at `from`; returns where the next one begins, or -1: the type cannot hold it. */
  add(cells: Uint8Array, from: number): number {
    if (cells[from] === nullCell) {
      if (!this.#nullable) return -1;
      this.present[this.rows++] = 0;
      return from + 2;
    }
    const next = this.put(cells, from);
    if (next === -1) return -1;
    this.present[this.rows++] = 1;
    this.count++;
    return next;
  }

  clear(): void {
    this.rows = 0;
    this.count = 0;
  }

  get sizeBytes(): number {
    return 8 * this.count;
  }

  /** Stores the value as number `count`. */
  protected abstract put(cells: Uint8Array, from: number): number;
  abstract values(): Values;
}
