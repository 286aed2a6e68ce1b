import { seededRandom } from "../base/seeded-random.ts";
import type { Table } from "./table.ts";

type Key = string | number;

/**
 * Sorted ids of whole tables, kept until the table changes, so that page 200 of a list costs a
 * slice. Ties stay in the order of ids, in both directions as a database would: by the same index.
 */
export class Orders {
  readonly #kept = new Map<string, { version: number; ids: readonly number[] }>();

  by<T extends { readonly id: number }>(
    table: Table<T>,
    name: string,
    keyOf: (id: number) => Key,
  ): readonly number[] {
    const known = this.#kept.get(name);
    if (known?.version === table.version) return known.ids;
    const ids = sortedBy([...table.ids()], keyOf);
    this.#kept.set(name, { version: table.version, ids });
    return ids;
  }
}

function sortedBy(ids: number[], keyOf: (id: number) => Key): number[] {
  const keyed = ids.map((id) => ({ id, key: keyOf(id) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.id - b.id));
  return keyed.map(({ id }) => id);
}

/** The same order by key, with equal keys in an order of chance, as a database may give them. */
export function shuffledTies(ids: readonly number[], keyOf: (id: number) => Key, turn: number): number[] {
  const keyed = ids.map((id, place) => ({
    id,
    place,
    key: keyOf(id),
    lot: seededRandom(turn, "tie", id).next(),
  }));
  const rank = new Map<Key, number>();
  for (const { key, place } of keyed) if (!rank.has(key)) rank.set(key, place);
  keyed.sort((a, b) => (rank.get(a.key) ?? 0) - (rank.get(b.key) ?? 0) || a.lot - b.lot);
  return keyed.map(({ id }) => id);
}
