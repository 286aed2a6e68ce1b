import { randomFor } from "../base/seeded-random.ts";
import type { AnsweredRecord } from "../base/values.ts";
import labels from "./labels.json" with { type: "json" };
import rows from "./rows.json" with { type: "json" };

/** A language of the service: its own code (`cz`, `si`, ...) and the standard one that browsers send. */
export interface ServiceLanguage {
  readonly id: number;
  readonly code: string;
  readonly tag: string;
}

const { languages, currencies, banks } = rows;
const byName = new Map(languages.flatMap((one) => [[one.code, one] as const, [one.tag, one] as const]));

export const english: ServiceLanguage = languages[1]!;
export const languageById = (id: number) => languages[id - 1] ?? english;
export const languageNamed = (name: string) => byName.get(name.toLowerCase());

/** `sk-SK,sk;q=0.9,en;q=0.5` -> the first language of these that the service speaks, or English. */
export function negotiate(header = ""): ServiceLanguage {
  const known = header.split(",").map((range) => languageNamed(/^\s*(\w*)/.exec(range)?.[1] ?? ""));
  return known.find((one) => one !== undefined) ?? english;
}

const countries = rows.countries
  .split(" ")
  .map((row) => ({ id: Number(row.slice(0, -2)), code: row.slice(-2) }));
const unionMembers = new Set(rows.unionMembers);
export const slovakia = 703;
export const czechia = 203;

export const euro = 1;
export const czechCrown = 5;

/** Units for one euro on a day: five decimals, within 3 % of the usual rate (`perEuro`); 1 for the euro. */
export function rateOn(currencyId: number, day: number): number {
  const currency = currencies[currencyId - 1];
  if (!currency || currencyId === euro) return 1;
  const drift = (randomFor(currencyId, "rate", day).next() - 0.5) * 0.06;
  return Math.round(currency.perEuro * (1 + drift) * 100_000) / 100_000;
}

const namesIn = (type: "region" | "language" | "currency", { tag }: ServiceLanguage) => {
  const names = new Intl.DisplayNames([tag], { type });
  return (code: string) => names.of(code) ?? code;
};

const numbered = (names: readonly string[]) => names.map((name, index) => ({ id: index + 1, name }));

/** Words by group, in the order of their ids; English where the language has none. */
const wordsIn = ({ code }: ServiceLanguage) => labels[code as keyof typeof labels] ?? labels.en;

/** What a discount is called where a document line gives it no name. */
export const discountLabel = (language: ServiceLanguage) => wordsIn(language).discount;

const lists = {
  banks: () => banks,
  countries: (language: ServiceLanguage) => {
    const nameOf = namesIn("region", language);
    return countries.map(({ id, code }) => ({ id, name: nameOf(code), code, eu: unionMembers.has(code) }));
  },
  languages: (language: ServiceLanguage) => {
    const nameOf = namesIn("language", language);
    return languages.map(({ id, tag, code }) => ({ id, name: nameOf(tag), code }));
  },
  currencies: (language: ServiceLanguage) => {
    const nameOf = namesIn("currency", language);
    return currencies.map(({ id, symbol, mark }) => ({ id, symbol, name: nameOf(symbol), mark }));
  },
  "delivery-methods": (language: ServiceLanguage) => numbered(wordsIn(language).delivery),
  "payment-methods": (language: ServiceLanguage) => numbered(wordsIn(language).payment),
  "qr-types": (language: ServiceLanguage) => numbered(wordsIn(language).qr),
  // Every language shares the units that follow those with words.
  units: (language: ServiceLanguage) => numbered([...wordsIn(language).unit, ...rows.unitSymbols]),
};

export type LookupName = keyof typeof lists;
export const lookupNames = Object.keys(lists) as readonly LookupName[];

/** Records by lookup and language, made when first needed. */
const made = new Map<string, ReadonlyMap<number, AnsweredRecord>>();

function recordsOf(name: LookupName, language: ServiceLanguage): ReadonlyMap<number, AnsweredRecord> {
  const key = `${name}/${language.code}`;
  const records = made.get(key) ?? new Map(lists[name](language).map((record) => [record.id, record]));
  made.set(key, records);
  return records;
}

export const lookupList = (name: LookupName, language: ServiceLanguage) => [
  ...recordsOf(name, language).values(),
];

export function lookup(name: LookupName, id: number | null, language = english): AnsweredRecord | null {
  return id === null ? null : (recordsOf(name, language).get(id) ?? null);
}
