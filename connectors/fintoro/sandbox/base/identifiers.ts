import type { SeededRandom } from "./seeded-random.ts";

/** IČO: seven digits and a check digit (weights 8 to 2, modulo 11). */
export function businessId(firstSeven: string): string {
  const sum = Array.from(firstSeven).reduce((total, digit, i) => total + Number(digit) * (8 - i), 0);
  return `${firstSeven}${(11 - (sum % 11)) % 10}`;
}

/** Slovak DIČ: ten digits, divisible by eleven where it is a VAT number too. */
export function slovakTaxId(chance: SeededRandom): string {
  const base = 2_020_000_000 + chance.int(0, 99_999_999);
  return String(base - (base % 11));
}

/** An IBAN with right check digits. */
export function iban(country: "SK" | "CZ", bank: string, account: string): string {
  const body = bank + account.padStart(16, "0");
  return `${country}${ibanCheck(country, body)}${body}`;
}

function ibanCheck(country: string, body: string): string {
  return String(98 - modulo97(`${lettersAsDigits(`${body}${country}`)}00`)).padStart(2, "0");
}

/** Spaces are allowed and do not count. */
export function isIban(text: string): boolean {
  const plain = text.replaceAll(" ", "").toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(plain)) return false;
  if (/^(SK|CZ)/.test(plain) && plain.length !== 24) return false;
  return modulo97(lettersAsDigits(plain.slice(4) + plain.slice(0, 4))) === 1;
}

function lettersAsDigits(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
}

function modulo97(digits: string): number {
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  return rest;
}

/** EAN-13 of Slovakia (858) with its check digit. */
export function ean13(number: number): string {
  const digits = `858${String(number).padStart(9, "0")}`;
  const sum = Array.from(digits).reduce(
    (total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3),
    0,
  );
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
