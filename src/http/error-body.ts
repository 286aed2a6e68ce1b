import type { SafeText } from "./safe-text.ts";

/** What the service said of an error, fit to be shown. */
export interface ErrorBody {
  readonly message: string | null;
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

const mostFields = 50;
const mostMessages = 10;

export function parseErrorBody(body: Buffer, words: SafeText): ErrorBody {
  const content = objectIn(body.toString());
  const message = content?.["message"] ?? content?.["error"];
  return {
    message: typeof message === "string" && message.trim() !== "" ? words(message) : null,
    fields: fieldsIn(content?.["errors"], words),
  };
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function fieldsIn(errors: unknown, words: SafeText): ErrorBody["fields"] {
  const entries = Object.entries(asObject(errors) ?? {}).slice(0, mostFields);
  return Object.fromEntries(entries.map(([field, said]) => [words(field, 100), messagesIn(said, words)]));
}

function messagesIn(said: unknown, words: SafeText): string[] {
  return [said]
    .flat()
    .filter((message) => typeof message === "string")
    .slice(0, mostMessages)
    .map((message) => words(message));
}
