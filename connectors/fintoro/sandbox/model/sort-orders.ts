import { seededRandom } from "../base/seeded-random.ts";
import type { Table } from "./record-table.ts";

type Key = string | number;

/**
 * Sorted ids of whole tables, kept until the table changes: page 200 of a list costs a slice. Records
 * with equal keys are sorted by id.
 */
export class Orders {
  readonly #kept = new Map<string, { version: number; ids: readonly number[] }>();

  /** The table's ids by key, ascending; `name` tells the orders of one company apart. */
  by<T extends { readonly id: number }>(
    table: Table<T>,
    name: string,
    keyOf: (id: number) => Key,
  ): readonly number[] {
    const known = this.#kept.get(name);
    if (known?.version === table.version) return known.ids;
    const keyed = Array.from(table.ids(), (id) => ({ id, key: keyOf(id) }));
    keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id - b.id));
    const ids = keyed.map(({ id }) => id);
    this.#kept.set(name, { version: table.version, ids });
    return ids;
  }
}

/** The same order by key, with equal keys in a random order, as a database may give them. */
export function shuffledTies(ids: readonly number[], keyOf: (id: number) => Key, turn: number): number[] {
  const rank = new Map<Key, number>();
  for (const [place, id] of ids.entries()) if (!rank.has(keyOf(id))) rank.set(keyOf(id), place);
  const ranked = ids.map((id) => ({
    id,
    rank: rank.get(keyOf(id)) ?? 0,
    tie: seededRandom(turn, "tie", id).next(),
  }));
  return ranked.toSorted((a, b) => a.rank - b.rank || a.tie - b.tie).map(({ id }) => id);
}
