import { dateOf } from "./calendar.ts";

/** Numbers with a meaning: business ids, IBANs and article codes with check digits, document numbers. */

/** A Slovak or Czech business id (IČO): seven digits and a check digit, weights 8 to 2, modulo 11. */
export function businessId(firstSeven: string): string {
  const sum = Array.from(firstSeven).reduce((total, digit, i) => total + Number(digit) * (8 - i), 0);
  return `${firstSeven}${(11 - (sum % 11)) % 10}`;
}

export function iban(country: string, bank: string, account: string): string {
  const body = bank + account.padStart(16, "0");
  const digits = `${body}${country}00`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  const check = 98n - (BigInt(digits) % 97n);
  return `${country}${String(check).padStart(2, "0")}${body}`;
}

/** An EAN-13 of Slovakia (858) with its check digit. */
export function ean13(number: number): string {
  const digits = `858${String(number).padStart(9, "0")}`;
  const weights = Array.from(digits).map((digit, i) => Number(digit) * (i % 2 === 0 ? 1 : 3));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

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
