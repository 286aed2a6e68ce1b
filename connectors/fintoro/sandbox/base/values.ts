/** A value as an answer's JSON holds it. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
/** A record as an answer shows it. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** The named fields of a record, in the order of their names. */
export function pick<T, K extends keyof T>(record: T, keys: readonly K[]): { [P in K]: T[P] } {
  const picked: Partial<T> = {};
  for (const key of keys) picked[key] = record[key];
  return picked as { [P in K]: T[P] };
}

/** The record without the named fields. */
export function omit<T, K extends keyof T>(record: T, keys: readonly K[]): Omit<T, K> {
  const rest: Partial<T> = {};
  for (const key in record) if (!(keys as readonly string[]).includes(key)) rest[key] = record[key];
  return rest as Omit<T, K>;
}

/** Lower case without accents, for searching and for addresses. */
export function latin(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
}
