import { createRedactor } from "../base/redact.ts";

/** Turns a text of the service into one that may be shown: secrets out first, then shortened. */
export type Words = (text: string, maxLength?: number) => string;

const defaultLength = 300;
const minPartLength = 12;

export function createWords(secrets: readonly string[]): Words {
  const redacted = createRedactor(secrets.flatMap(partsOf));
  return (text, maxLength = defaultLength) => shortened(printable(redacted(text)), maxLength);
}

/** The part of a token such as `17|abc…` is a secret of its own, if nobody could hit it by chance. */
function partsOf(secret: string): string[] {
  return [secret, ...secret.split("|").filter((part) => part.length >= minPartLength)];
}

/** No control characters (terminal escapes), no marks that turn the direction of text. */
function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
}

function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`;
}
