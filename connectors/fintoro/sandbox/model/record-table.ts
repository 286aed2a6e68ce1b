type Key = string | number;

type KeyOf<T> = (record: T) => Key | null;

/** The indexes of a table: each gives the key of a record, or null to leave it out. */
export type Keys<T> = Readonly<Record<string, KeyOf<T>>>;

/** One index: the ids of the live records by key. */
interface Index<T> {
  readonly keyOf: KeyOf<T>;
  readonly ids: Map<Key, number[]>;
}

/** The live records of one kind in the order of their ids. Ids count up and are never used again. */
export class Table<T extends { readonly id: number }> {
  readonly #records = new Map<number, T>();
  readonly #keys: Keys<T>;
  readonly #indexes = new Map<string, Index<T>>();
  /** Sorted records by the name of the order; dropped at each write. */
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
    return this.#write(this.#nextId++, make(this.#nextId - 1)) as T;
  }

  replace(record: T): T {
    return this.#write(record.id, record) as T;
  }

  remove(id: number): void {
    if (this.has(id)) this.#write(id, undefined);
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

  /** The live records with this key, by id. An index is built when it is first used and kept from then on. */
  findBy(indexName: string, key: Key): T[] {
    const ids = this.#index(indexName).ids.get(key) ?? [];
    return ids.toSorted((a, b) => a - b).flatMap((id) => this.get(id) ?? []);
  }

  /**
   * The live records by key, ascending; equal keys by id. The order is kept until the next write: page 200 of
   * a list costs a slice.
   */
  sorted(orderName: string, keyOf: (record: T) => Key): readonly T[] {
    const known = this.#orders.get(orderName);
    if (known) return known;
    const keyed = Array.from(this.values(), (record) => ({ record, key: keyOf(record) }));
    keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.record.id - b.record.id));
    const records = keyed.map(({ record }) => record);
    this.#orders.set(orderName, records);
    return records;
  }

  #index(name: string): Index<T> {
    const known = this.#indexes.get(name);
    if (known) return known;
    const keyOf = this.#keys[name];
    if (!keyOf) throw new Error(`broken promise: the table has an index "${name}"`);
    const index = { keyOf, ids: new Map<Key, number[]>() };
    for (const record of this.values()) move(index, undefined, record);
    this.#indexes.set(name, index);
    return index;
  }

  #write(id: number, after: T | undefined): T | undefined {
    const before = this.#records.get(id);
    if (after) this.#records.set(id, after);
    else this.#records.delete(id);
    for (const index of this.#indexes.values()) move(index, before, after);
    this.#orders.clear();
    return after;
  }
}

/** Moves a record's id from its key before a write to its key after it. */
function move<T extends { readonly id: number }>(index: Index<T>, before?: T, after?: T): void {
  const { keyOf, ids } = index;
  const from = before ? keyOf(before) : null;
  const to = after ? keyOf(after) : null;
  if (from === to) return;
  if (before && from !== null) {
    const rest = (ids.get(from) ?? []).filter((id) => id !== before.id);
    if (rest.length > 0) ids.set(from, rest);
    else ids.delete(from);
  }
  if (after && to !== null) ids.set(to, [...(ids.get(to) ?? []), after.id]);
}
