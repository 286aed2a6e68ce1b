import { bankById, banks } from "./banks.ts";
import { countries } from "./countries.ts";
import { currencies } from "./currencies.ts";
import { deliveryLabels, paymentLabels, qrLabels, unitLabels } from "./labels.ts";
import { english, languages, type Language } from "./languages.ts";

/** A lookup record as the API answers it. */
export type LookupRecord = Readonly<Record<string, string | number | boolean>>;

export const lookupNames = [
  "banks",
  "countries",
  "languages",
  "currencies",
  "delivery-methods",
  "payment-methods",
  "qr-types",
  "units",
] as const;
export type LookupName = (typeof lookupNames)[number];

interface Book {
  readonly list: readonly LookupRecord[];
  readonly byId: ReadonlyMap<number, LookupRecord>;
}

/** One book for each (lookup, language), made when first asked for. */
const books = new Map<string, Book>();

export function lookupList(name: LookupName, language: Language): readonly LookupRecord[] {
  return book(name, language).list;
}

export function lookup(name: LookupName, id: number, language: Language): LookupRecord | null {
  return book(name, language).byId.get(id) ?? null;
}

export function lookupHas(name: LookupName, id: number): boolean {
  return name === "banks" ? bankById(id) !== undefined : book(name, english).byId.has(id);
}

function book(name: LookupName, language: Language): Book {
  const key = `${name}/${language.code}`;
  const known = books.get(key);
  if (known) return known;
  const list = writers[name](language);
  const made = { list, byId: new Map(list.map((record) => [record["id"] as number, record])) };
  books.set(key, made);
  return made;
}

const writers: Readonly<Record<LookupName, (language: Language) => readonly LookupRecord[]>> = {
  banks: () => banks.map((bank) => ({ ...bank })),
  countries: ({ tag }) => {
    const names = new Intl.DisplayNames([tag], { type: "region" });
    return countries.map(({ id, code, eu }) => ({ id, name: names.of(code) ?? code, code, eu }));
  },
  languages: ({ tag }) => {
    const names = new Intl.DisplayNames([tag], { type: "language" });
    return languages.map((item) => ({ id: item.id, name: names.of(item.tag) ?? item.tag, code: item.code }));
  },
  currencies: ({ tag }) => {
    const names = new Intl.DisplayNames([tag], { type: "currency" });
    return currencies.map(({ id, symbol, mark }) => ({ id, symbol, name: names.of(symbol) ?? symbol, mark }));
  },
  "delivery-methods": ({ code }) => labelled(deliveryLabels(code)),
  "payment-methods": ({ code }) => labelled(paymentLabels(code)),
  "qr-types": ({ code }) => labelled(qrLabels(code)),
  units: ({ code }) => labelled(unitLabels(code)),
};

function labelled(labels: readonly string[]): readonly LookupRecord[] {
  return labels.map((name, index) => ({ id: index + 1, name }));
}
