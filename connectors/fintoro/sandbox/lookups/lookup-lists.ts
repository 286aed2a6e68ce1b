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
const languageNamed = (name: string) => byName.get(name.toLowerCase());

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

const numbered = (names: readonly string[]) => names.map((name, index) => ({ id: index + 1, name }));

function listsIn(language: ServiceLanguage) {
  const nameOf = (type: "region" | "language" | "currency") =>
    new Intl.DisplayNames([language.tag], { type });
  const [regions, tongues, moneys] = [nameOf("region"), nameOf("language"), nameOf("currency")];
  // By group, in the order of their ids; English where the language has none.
  const words = labels[language.code as keyof typeof labels] ?? labels.en;
  return {
    banks,
    countries: countries.map(({ id, code }) => {
      return { id, name: regions.of(code), code, eu: unionMembers.has(code) };
    }),
    languages: languages.map(({ id, tag, code }) => ({ id, name: tongues.of(tag), code })),
    currencies: currencies.map(({ id, symbol, mark }) => ({ id, symbol, name: moneys.of(symbol), mark })),
    "delivery-methods": numbered(words.delivery),
    "payment-methods": numbered(words.payment),
    "qr-types": numbered(words.qr),
    // Every language shares the units that follow those with words.
    units: numbered([...words.unit, ...rows.unitSymbols]),
  };
}

export type LookupName = keyof ReturnType<typeof listsIn>;
export const lookupNames = Object.keys(listsIn(english)) as readonly LookupName[];

const made = new Map<string, ReturnType<typeof listsIn>>();

export function lookupList(name: LookupName, language: ServiceLanguage): readonly AnsweredRecord[] {
  const lists = made.get(language.code) ?? listsIn(language);
  made.set(language.code, lists);
  return lists[name];
}

export function lookup(name: LookupName, id: number | null, language = english): AnsweredRecord | null {
  return lookupList(name, language).find((one) => one["id"] === id) ?? null;
}
