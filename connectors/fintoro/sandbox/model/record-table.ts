type Key = string | number;

/** The order of two keys, ascending. */
export function compareKeys(a: Key, b: Key): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The indexes of a table: each gives the key of a record, or null to leave it out. */
export type Keys<T> = Readonly<Record<string, (record: T) => Key | null>>;

/** The live records of one kind in the order of their ids. Ids count up and are never used again. */
export class Table<T extends { readonly id: number }> {
  readonly #records = new Map<number, T>();
  readonly #indexes: readonly (readonly [keyOf: (record: T) => Key | null, ids: Map<Key, number[]>])[];
  readonly #indexNames: readonly string[];
  /** Sorted records by the name of the order; dropped at each write. */
  readonly #orders = new Map<string, readonly T[]>();
  readonly firstId: number;
  #nextId: number;

  /** @param keys the indexes that `findBy` can use, by name */
  constructor(firstId: number, keys: Keys<T> = {}) {
    this.firstId = this.#nextId = firstId;
    this.#indexNames = Object.keys(keys);
    this.#indexes = Object.values(keys).map((keyOf) => [keyOf, new Map()]);
  }

  get size(): number {
    return this.#records.size;
  }

  get nextId(): number {
    return this.#nextId;
  }

  get(id: number): T | undefined {
    return this.#records.get(id);
  }

  has(id: number): boolean {
    return this.#records.has(id);
  }

  /** Adds the record that `make` gives for the next id. */
  add(make: (id: number) => T): T {
    return this.replace(make(this.#nextId++));
  }

  replace(record: T): T {
    this.#index(record.id, record);
    this.#records.set(record.id, record);
    return record;
  }

  remove(id: number): void {
    this.#index(id, undefined);
    this.#records.delete(id);
  }

  values(): MapIterator<T> {
    return this.#records.values();
  }

  /** The live records that pass the test, by id. */
  where(test: (record: T) => boolean): T[] {
    return [...this.values()].filter(test);
  }

  /** The live records with this key in an index. */
  findBy(indexName: string, key: Key): T[] {
    const ids = this.#indexes[this.#indexNames.indexOf(indexName)]?.[1].get(key) ?? [];
    return ids.flatMap((id) => this.#records.get(id) ?? []);
  }

  /**
   * The live records by key, ascending; equal keys by id. The order is kept until the next write: page 200 of
   * a list costs a slice.
   */
  sorted(orderName: string, keyOf: (record: T) => Key): readonly T[] {
    const known = this.#orders.get(orderName);
    if (known) return known;
    const keyed = Array.from(this.values(), (record) => ({ record, key: keyOf(record) }));
    const records = keyed.toSorted((a, b) => compareKeys(a.key, b.key)).map(({ record }) => record);
    this.#orders.set(orderName, records);
    return records;
  }

  /** Brings the indexes in line with what will stand under the id. */
  #index(id: number, after: T | undefined): void {
    this.#orders.clear();
    const before = this.#records.get(id);
    for (const [keyOf, ids] of this.#indexes) {
      const [from, to] = [before ? keyOf(before) : null, after ? keyOf(after) : null];
      if (from === to) continue;
      if (from !== null) ids.set(from, ids.get(from)?.filter((one) => one !== id) ?? []);
      if (to === null) continue;
      const others = ids.get(to);
      if (others) others.push(id);
      else ids.set(to, [id]);
    }
  }
}
