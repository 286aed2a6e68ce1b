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
  readonly #keys: Keys<T>;
  /** Records by index and key. Built when an index is used, dropped at the next write. */
  readonly #indexes = new Map<string, ReadonlyMap<Key, readonly T[]>>();
  /** Sorted records by the name of the order; dropped at each write, too. */
  readonly #orders = new Map<string, readonly T[]>();
  #nextId: number;

  /** @param keys the indexes that `findBy` can use, by name */
  constructor(firstId: number, keys: Keys<T> = {}) {
    this.#nextId = firstId;
    this.#keys = keys;
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
    this.#records.set(record.id, record);
    this.#forget();
    return record;
  }

  remove(id: number): void {
    this.#records.delete(id);
    this.#forget();
  }

  ids(): MapIterator<number> {
    return this.#records.keys();
  }

  values(): MapIterator<T> {
    return this.#records.values();
  }

  /** The live records that pass the test, by id. */
  where(test: (record: T) => boolean): T[] {
    return [...this.values()].filter(test);
  }

  /** The live records with this key in an index, by id. */
  findBy(indexName: string, key: Key): readonly T[] {
    const index = this.#indexes.get(indexName) ?? this.#buildIndex(indexName);
    return index.get(key) ?? [];
  }

  /**
   * The live records by key, ascending; equal keys by id. The order is kept until the next write: page 200 of
   * a list costs a slice.
   */
  sorted(orderName: string, keyOf: (record: T) => Key): readonly T[] {
    const known = this.#orders.get(orderName);
    if (known) return known;
    const keyed = Array.from(this.values(), (record) => ({ record, key: keyOf(record) }));
    keyed.sort((a, b) => compareKeys(a.key, b.key));
    const records = keyed.map(({ record }) => record);
    this.#orders.set(orderName, records);
    return records;
  }

  #buildIndex(name: string): ReadonlyMap<Key, readonly T[]> {
    const keyOf = this.#keys[name];
    if (!keyOf) throw new Error(`broken promise: the table has an index "${name}"`);
    const index = new Map<Key, T[]>();
    for (const record of this.values()) {
      const key = keyOf(record);
      const others = key === null ? [] : index.get(key);
      if (others) others.push(record);
      else if (key !== null) index.set(key, [record]);
    }
    this.#indexes.set(name, index);
    return index;
  }

  #forget(): void {
    this.#indexes.clear();
    this.#orders.clear();
  }
}
