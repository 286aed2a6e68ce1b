import samples from "./sample-words.json" with { type: "json" };

type Kind = keyof typeof samples.slovak;

/** The words of one country. A city has its ZIP after a colon. */
export type Words = Readonly<Record<Kind, readonly string[]>>;
/** The Slovak class of VAT that goods or a service belong to. */
export type VatClass = "standard" | "reduced" | "low" | "zero";

type Priced = [name: string, unitId: number, priceCents: number, vatClass: VatClass];

function wordsFrom(lists: Record<Kind, string>): Words {
  const entries = Object.entries(lists).map(([kind, words]) => [kind, words.split("|")] as const);
  return Object.fromEntries(entries) as unknown as Words;
}

export const slovakWords = wordsFrom(samples.slovak);
export const czechWords = wordsFrom(samples.czech);
/** Abroad: country id, city, ZIP, street, company, language id, currency id, start of its VAT ids. */
export const abroad = samples.abroad as [
  number,
  string,
  string,
  string,
  string,
  number,
  number,
  string | null,
][];
export const goods = samples.goods as Priced[];
export const services = samples.services as Priced[];
/** Name and color. */
export const statusNames = samples.statusNames as [string, string][];
/** Name and business id. */
export const companies = samples.companies as [string, string][];
/** Bank accounts: name, bank id, country, bank code, SWIFT code. */
export const accounts = samples.accounts as [string, number | null, "SK" | "CZ", string, string][];
/** Name and code. */
export const warehouses = samples.warehouses as [string, string][];
/** Careless code breaks on these names and notes: quotes, formulas, new lines, emoji, other alphabets. */
export const { oddNames, oddNotes, caseTopics, callNotes } = samples;
export const { companyProfile, subscriptions, activityTypes } = samples;
/** Attachments: name, media type, content. */
export const files = samples.files as [string, string, string][];
