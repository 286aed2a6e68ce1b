import samples from "./sample-words.json" with { type: "json" };

type Kind = keyof typeof samples.slovak;

/** The words of one country. A city has its ZIP after a colon. */
export type Words = Readonly<Record<Kind, readonly string[]>>;
type Priced = [name: string, unitId: number, priceCents: number, vatRate: number];
type Abroad = [
  countryId: number,
  city: string,
  zip: string,
  street: string,
  company: string,
  languageId: number,
  currencyId: number,
  vatPrefix: string | null,
];
type Account = [name: string, bankId: number | null, country: "SK" | "CZ", bankCode: string, swift: string];

function wordsFrom(lists: Record<Kind, string>): Words {
  const entries = Object.entries(lists).map(([kind, words]) => [kind, words.split("|")] as const);
  return Object.fromEntries(entries) as unknown as Words;
}

export const slovakWords = wordsFrom(samples.slovak);
export const czechWords = wordsFrom(samples.czech);
export const abroad = samples.abroad as Abroad[];
export const goods = samples.goods as Priced[];
export const services = samples.services as Priced[];
export const statuses = samples.statusNames as [name: string, color: string][];
export const companies = samples.companies as [name: string, businessId: string][];
export const bankAccounts = samples.accounts as Account[];
export const warehouseNames = samples.warehouses as [name: string, code: string][];
/** Careless code breaks on these names and notes: quotes, formulas, new lines, emoji, other alphabets. */
export const { oddNames, oddNotes, caseTopics, callNotes } = samples;
export const { companyProfile, subscriptions, activityTypes } = samples;
export const files = samples.files as [name: string, mimeType: string, content: string][];
