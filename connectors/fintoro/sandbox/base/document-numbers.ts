import { dateOf } from "./calendar.ts";

/** `FA(RRRR)(CCC)` -> `FA2026007`: fills in the tokens for year, month and counter. */
export function formatNumber(pattern: string, day: number, counter: number): string {
  const [year = "", month = ""] = dateOf(day).split("-");
  return pattern.replace(/\((RRRR|YYYY|RR|YY|MM|C+)\)/g, (_, token: string) => {
    if (token.startsWith("C")) return String(counter).padStart(token.length, "0");
    if (token === "MM") return month;
    return token.length === 4 ? year : year.slice(-2);
  });
}

/** The variable symbol of a document number: its last ten digits. */
export const variableSymbol = (number: string) => Number(number.replace(/\D/g, "").slice(-10) || "0");
