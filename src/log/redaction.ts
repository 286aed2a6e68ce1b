import { createRedactor } from "../base/secret.ts";

/** The secrets known so far; the config brings its own when it is read. */
export interface Redaction {
  add(secrets: readonly string[]): void;
  readonly apply: (text: string) => string;
}

export function createRedaction(): Redaction {
  const known = new Set<string>();
  let redactor = createRedactor([]);
  return {
    add(secrets) {
      for (const secret of secrets) known.add(secret);
      redactor = createRedactor([...known]);
    },
    apply: (text) => redactor(text),
  };
}
