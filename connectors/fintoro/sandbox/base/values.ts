export type AnsweredRecord = Readonly<Record<string, unknown>>;

export function pick<T, const K extends readonly (keyof T)[]>(record: T, keys: K): Pick<T, K[number]> {
  return Object.fromEntries(keys.map((key) => [key, record[key]])) as Pick<T, K[number]>;
}

export function omit<T extends object>(record: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key))) as T;
}

type Words<S extends string> = S extends `${infer First} ${infer Rest}` ? First | Words<Rest> : S;

/** Fields of one type, by their names with a space between them. */
export type Each<Names extends string, T> = Readonly<Record<Words<Names>, T>>;

/** `a b c` -> a, b and c, also in the type. */
export function nameList<const S extends string>(list: S) {
  return list.split(" ") as unknown as readonly Words<S>[];
}

/** `a b c` -> an object with this value under a, b and c. */
export const each = <const S extends string, V>(names: S, value: V) =>
  Object.fromEntries(nameList(names).map((name) => [name, value])) as Record<Words<S>, V>;

export const plainLetters = (text: string) => text.normalize("NFD").replace(/\p{M}+/gu, "");

/** Lower case without accents, for searching and for addresses. */
export const latin = (text: string) => plainLetters(text).toLowerCase();

/** `price_list_items`, `delivery-methods` -> `priceListItem`, `deliveryMethod`. */
export function singular(name: string): string {
  const one = name.replace(/(?<=statu)ses$/, "s").replace(/(?<!ser)ies$/, "y");
  return one
    .replace(/(?<!serie|statu)s$/, "")
    .replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Keeps the newest entries, oldest first; a long run stays small. */
export function boundedLog<T>(most: number) {
  const entries: T[] = [];
  return {
    add: (entry: T) => {
      entries.push(entry);
      if (entries.length > most * 1.1) entries.splice(0, entries.length - most);
    },
    list: () => entries.slice(-most),
  };
}
