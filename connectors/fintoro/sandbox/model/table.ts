/**
 * A collection that costs nothing until it is touched: seeded records are told anew from their id
 * each time, and only what was written since the start is kept.
 */
export interface Seeded<T> {
  readonly first: number;
  readonly count: number;
  make(id: number): T;
}

export class Table<T extends { readonly id: number }> {
  readonly #seeded: Seeded<T>;
  /** Written records; null marks a deleted one. */
  readonly #written = new Map<number, T | null>();
  readonly #added: number[] = [];
  #deleted = 0;
  #version = 0;

  constructor(seeded: Seeded<T>) {
    this.#seeded = seeded;
  }

  get size(): number {
    return this.#seeded.count + this.#added.length - this.#deleted;
  }

  /** Grows with each write; what was computed at another version is stale. */
  get version(): number {
    return this.#version;
  }

  get nextId(): number {
    return this.#seeded.first + this.#seeded.count + this.#added.length;
  }

  get(id: number): T | undefined {
    const written = this.#written.get(id);
    if (written !== undefined) return written ?? undefined;
    return this.isSeeded(id) ? this.#seeded.make(id) : undefined;
  }

  has(id: number): boolean {
    const written = this.#written.get(id);
    return written === undefined ? this.isSeeded(id) : written !== null;
  }

  /** The record if it was written since the start; undefined for one that is still as seeded. */
  written(id: number): T | undefined {
    return this.#written.get(id) ?? undefined;
  }

  isSeeded(id: number): boolean {
    const index = id - this.#seeded.first;
    return Number.isInteger(index) && index >= 0 && index < this.#seeded.count;
  }

  /** As it was before any write. */
  original(id: number): T | undefined {
    return this.isSeeded(id) ? this.#seeded.make(id) : undefined;
  }

  add(make: (id: number) => T): T {
    const record = make(this.nextId);
    this.#added.push(record.id);
    this.#written.set(record.id, record);
    this.#version++;
    return record;
  }

  replace(record: T): T {
    this.#written.set(record.id, record);
    this.#version++;
    return record;
  }

  remove(id: number): void {
    if (!this.has(id)) return;
    this.#written.set(id, null);
    this.#deleted++;
    this.#version++;
  }

  /** Live ids, ascending. */
  *ids(): Generator<number> {
    const { first, count } = this.#seeded;
    for (let id = first; id < first + count; id++) if (this.#written.get(id) !== null) yield id;
    for (const id of this.#added) if (this.#written.get(id) !== null) yield id;
  }

  *values(): Generator<T> {
    for (const id of this.ids()) yield this.get(id) as T;
  }

  /** Live records that were written since the start. */
  *writtenValues(): Generator<T> {
    for (const record of this.#written.values()) if (record) yield record;
  }
}

/** A table without seeds. */
export function emptySeeds<T>(first: number): Seeded<T> {
  return {
    first,
    count: 0,
    make: () => {
      throw new Error("broken promise: nothing is seeded here");
    },
  };
}

export function listSeeds<T>(first: number, list: readonly T[]): Seeded<T> {
  return { first, count: list.length, make: (id) => list[id - first] as T };
}
