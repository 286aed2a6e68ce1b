/** Languages of headings and values; `en`: as the service has them. */
export const languages = ["en", "sk"] as const;
export type ExportLanguage = (typeof languages)[number];

/** The words of a language for what people read in exports: headings, and values that are words of the service. */
export interface Translation {
  /** By table or view, in at most 31 characters: they are names of sheets. */
  readonly titles: Readonly<Record<string, string>>;
  /** Headings by column; where there is none, it is made of its parts: `client_name`, `total_eur`. */
  readonly columns: Readonly<Record<string, string>>;
  readonly prefixes: Readonly<Record<string, string>>;
  readonly suffixes: Readonly<Record<string, string>>;
  /** Words by value, by column. Other values stay as they are. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly yes: string;
  readonly no: string;
  /** Before a total; a currency may follow. */
  readonly total: string;
}

/** The heading of a column; null where the translation has none. */
export function translatedHeading(words: Translation, name: string): string | null {
  const whole = words.columns[name];
  if (whole !== undefined) return whole;
  const prefix = Object.keys(words.prefixes).find((each) => name.startsWith(`${each}_`));
  const rest = prefix === undefined ? null : translatedHeading(words, name.slice(prefix.length + 1));
  if (prefix !== undefined && rest !== null) {
    // An abbreviation such as IČO keeps its capitals.
    const inner = rest.replace(/^\p{Lu}(?![\p{Lu}-])/u, (letter) => letter.toLowerCase());
    return `${words.prefixes[prefix]}: ${inner}`;
  }
  const suffix = Object.keys(words.suffixes).find((each) => name.endsWith(`_${each}`));
  const start = suffix === undefined ? null : translatedHeading(words, name.slice(0, -suffix.length - 1));
  return suffix === undefined || start === null ? null : `${start} ${words.suffixes[suffix]}`;
}

/** How a language shows a column: its heading, and words by value as SQLite has it; other values stay as they are. */
export function shownColumn(
  words: Translation | null,
  { name, type }: Readonly<Record<"name" | "type", string>>,
): { readonly heading: string; readonly values: ReadonlyMap<string | number, string> } {
  if (words === null) return { heading: name, values: new Map() };
  const heading = translatedHeading(words, name) ?? name;
  if (type === "BOOLEAN") return { heading, values: new Map([words.no, words.yes].entries()) };
  return { heading, values: new Map(Object.entries((type === "TEXT" && words.values[name]) || {})) };
}
