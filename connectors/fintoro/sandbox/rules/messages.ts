import texts from "./messages.json" with { type: "json" };

/** The name of a message. */
export type MessageKey = keyof typeof texts;

/** What is wrong with one field of a request. */
export interface Problem {
  readonly field: string;
  readonly key: MessageKey;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** Where each text has the languages; keys that have English alone, and other languages, have English messages. */
const places: Readonly<Record<string, number>> = { en: 0, sk: 1, cz: 2 };

/** The message in a language of the service, with its placeholders filled in. */
export function message(key: MessageKey, language: string, values: Problem["values"] = {}): string {
  const translations = texts[key].split(" | ");
  const template = translations[places[language] ?? 0] ?? translations[0] ?? "";
  return template.replace(/:([a-z]+)/g, (token, name: string) => String(values[name] ?? token));
}

/** The `errors` of a 422 body: field -> messages. They call `clientId` "client id". */
export function errorMap(problems: readonly Problem[], language: string): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { field, key, values } of problems) {
    const attribute = field.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    (errors[field] ??= []).push(message(key, language, { attribute, ...values }));
  }
  return errors;
}
