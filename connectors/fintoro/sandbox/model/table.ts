import type { BookRow } from "./row.ts";

type Key = string | number;
type KeyOf = (row: BookRow) => Key | null;

export const compareKeys = (a: Key, b: Key) => (a < b ? -1 : a > b ? 1 : 0);

/** The live records of one kind in the order of their ids. Ids count up and are never used again. */
export class RowTable {
  readonly firstId: number;
  nextId: number;
  readonly #rows = new Map<number, BookRow>();
  readonly #indexes: ReadonlyMap<string, { readonly keyOf: KeyOf; readonly ids: Map<Key, number[]> }>;
  /** Sorted records by the name of the order; dropped at each write. */
  readonly #orders = new Map<string, readonly BookRow[]>();

  /** @param keys the indexes that `findBy` can use, by name; null leaves a record out */
  constructor(firstId: number, keys: Readonly<Record<string, KeyOf>> = {}) {
    this.firstId = this.nextId = firstId;
    this.#indexes = new Map(Object.entries(keys).map(([name, keyOf]) => [name, { keyOf, ids: new Map() }]));
  }

  get(id: number | null | undefined): BookRow | undefined {
    return this.#rows.get(id ?? 0);
  }

  add(fields: Omit<Partial<BookRow>, "id">): BookRow {
    return this.replace({ id: this.nextId++, ...fields } as BookRow);
  }

  replace(row: BookRow): BookRow {
    this.#index(row.id, row);
    this.#rows.set(row.id, row);
    return row;
  }

  remove(id: number): void {
    this.#index(id, undefined);
    this.#rows.delete(id);
  }

  values(): MapIterator<BookRow> {
    return this.#rows.values();
  }

  where(test: (row: BookRow) => boolean): BookRow[] {
    return [...this.values()].filter(test);
  }

  findBy(indexName: string, key: Key): BookRow[] {
    const ids = this.#indexes.get(indexName)?.ids.get(key) ?? [];
    return ids.flatMap((id) => this.#rows.get(id) ?? []);
  }

  /** The live records by key, ascending; equal keys by id. The order is kept until the next write. */
  sorted(orderName: string, keyOf: (row: BookRow) => Key): readonly BookRow[] {
    const known = this.#orders.get(orderName);
    if (known) return known;
    const keyed = Array.from(this.values(), (row) => ({ row, key: keyOf(row) }));
    const rows = keyed.toSorted((a, b) => compareKeys(a.key, b.key)).map(({ row }) => row);
    this.#orders.set(orderName, rows);
    return rows;
  }

  /** Brings the indexes in line with what will stand under the id. */
  #index(id: number, after: BookRow | undefined): void {
    this.#orders.clear();
    const before = this.#rows.get(id);
    for (const { keyOf, ids } of this.#indexes.values()) {
      const [from, to] = [before && keyOf(before), after && keyOf(after)];
      if (from === to) continue;
      if (from !== undefined && from !== null)
        ids.set(from, ids.get(from)?.filter((one) => one !== id) ?? []);
      if (to === undefined || to === null) continue;
      const others = ids.get(to);
      if (others) others.push(id);
      else ids.set(to, [id]);
    }
  }
}
