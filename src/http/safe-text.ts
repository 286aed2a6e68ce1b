import { createRedactor } from "../base/secret.ts";
import { terminalText } from "../base/terminal-text.ts";

/** Makes a text of the service one line that is safe to print: secrets redacted (I9), shortened. @default 300 */
export type SafeText = (text: string, maxLength?: number) => string;

const minPartLength = 12;

/** A SafeText for these secrets. The long parts of a token such as `17|abc…` are secrets of their own. */
export function createSafeText(secrets: readonly string[]): SafeText {
  const parts = secrets.flatMap((secret) => secret.split("|").filter((part) => part.length >= minPartLength));
  const redacted = createRedactor([...secrets, ...parts]);
  return (text, maxLength = 300) => terminalText(redacted(text).replace(/\s+/g, " ").trim(), maxLength);
}
