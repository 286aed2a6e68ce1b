/** A value as an answer's JSON holds it. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
/** A record as an answer shows it. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** The named fields of a record, in the order of their names. */
export function pick<T, const K extends readonly (keyof T)[]>(record: T, keys: K): Pick<T, K[number]> {
  const picked: Partial<T> = {};
  for (const key of keys) picked[key] = record[key];
  return picked as Pick<T, K[number]>;
}

/** The record without the named fields. */
export function omit<T, K extends keyof T>(record: T, keys: readonly K[]): Omit<T, K> {
  const rest: Partial<T> = {};
  for (const key in record) if (!(keys as readonly string[]).includes(key)) rest[key] = record[key];
  return rest as Omit<T, K>;
}

/** The same value under every key. */
export function everyKey<const K extends readonly string[], V>(keys: K, value: V): Record<K[number], V> {
  return Object.fromEntries(keys.map((key) => [key, value])) as Record<K[number], V>;
}

/** Without accents. */
export function plainLetters(text: string): string {
  return text.normalize("NFD").replace(/\p{M}+/gu, "");
}

/** Lower case without accents, for searching and for addresses. */
export function latin(text: string): string {
  return plainLetters(text).toLowerCase();
}

/** Keeps the newest entries, oldest first; a long run stays small. */
export class BoundedLog<T> {
  readonly #most: number;
  readonly #entries: T[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(entry: T): void {
    this.#entries.push(entry);
    if (this.#entries.length > this.#most * 1.1) this.#entries.splice(0, this.#entries.length - this.#most);
  }

  list(): T[] {
    return this.#entries.slice(-this.#most);
  }
}
