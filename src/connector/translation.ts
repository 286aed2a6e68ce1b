/** The words of a language for what people read in exports: headings, and values that are words of the service. */
export interface Translation {
  /** Titles by table or view. */
  readonly titles: Readonly<Record<string, string>>;
  /** Headings by column; where there is none, that of the prefix and that of the rest: `client_name`. */
  readonly columns: Readonly<Record<string, string>>;
  readonly prefixes: Readonly<Record<string, string>>;
  /** Words by value, by column. Other values stay as they are. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly yes: string;
  readonly no: string;
  /** Before a total; a currency may follow. */
  readonly total: string;
}

/** The heading of a column; null where the table has no word for it. */
export function translatedHeading({ columns, prefixes }: Translation, name: string): string | null {
  const whole = columns[name];
  if (whole !== undefined) return whole;
  const prefix = Object.keys(prefixes).find((each) => name.startsWith(`${each}_`));
  const rest = prefix === undefined ? undefined : columns[name.slice(prefix.length + 1)];
  return prefix === undefined || rest === undefined ? null : `${prefixes[prefix]}: ${rest}`;
}
