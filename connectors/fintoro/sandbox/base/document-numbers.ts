export interface NumberParts {
  readonly year: number;
  readonly month: number;
  readonly counter: number;
}

/** `FA(RRRR)(CCC)` -> `FA2026007`: year, month and counter tokens; everything else stands as it is. */
export function formatNumber(pattern: string, { year, month, counter }: NumberParts): string {
  return pattern.replace(/\((RRRR|YYYY|RR|YY|MM|C+)\)/g, (_, token: string) => {
    if (token.startsWith("C")) return String(counter).padStart(token.length, "0");
    if (token === "MM") return String(month).padStart(2, "0");
    return token.length === 4 ? String(year) : String(year).slice(-2);
  });
}

export function hasCounter(pattern: string): boolean {
  return /\(C+\)/.test(pattern);
}

/** The digits of a number, at most the last ten. */
export function variableSymbol(number: string): number {
  return Number(number.replace(/\D/g, "").slice(-10) || "0");
}
