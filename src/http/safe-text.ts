import { createRedactor } from "../base/secret.ts";
import { terminalText } from "../base/terminal-text.ts";

/** Turns a text of the service into one that may be shown: secrets out first, then shortened. */
export type SafeText = (text: string, maxLength?: number) => string;

const defaultLength = 300;
const minPartLength = 12;

export function createSafeText(secrets: readonly string[]): SafeText {
  const redacted = createRedactor(secrets.flatMap(partsOf));
  return (text, maxLength = defaultLength) =>
    terminalText(redacted(text).replace(/\s+/g, " ").trim(), maxLength);
}

/** The part of a token such as `17|abc…` is a secret of its own, if nobody could hit it by chance. */
function partsOf(secret: string): string[] {
  return [secret, ...secret.split("|").filter((part) => part.length >= minPartLength)];
}
