import { createRedactor } from "../base/secret.ts";
import { terminalText } from "../base/terminal-text.ts";

/** Makes a text of the service one line that is safe to print: secrets redacted (I9), shortened. @default 300 */
export type SafeText = (text: string, maxLength?: number) => string;

const minPartLength = 12;

/** A SafeText for these secrets. */
export function createSafeText(token: string, secrets: readonly string[] = []): SafeText {
  const own = secrets.includes(token) ? (text: string) => text : redactorOf([token]);
  const others = redactorOf(secrets);
  const redacted = (text: string) => others(own(text));
  return (text, maxLength = 300) => terminalText(redacted(text).replace(/\s+/g, " ").trim(), maxLength);
}

const redactors = new WeakMap<readonly string[], (text: string) => string>();

/** One for each list: all companies' transports have the same. The long parts of a token such as `17|abc…` are secrets too. */
function redactorOf(secrets: readonly string[]): (text: string) => string {
  const known = redactors.get(secrets);
  if (known) return known;
  const parts = secrets.flatMap((secret) => secret.split("|").filter((part) => part.length >= minPartLength));
  const made = createRedactor([...secrets, ...parts]);
  redactors.set(secrets, made);
  return made;
}
