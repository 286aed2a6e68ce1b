import texts from "./messages.json" with { type: "json" };

/** The name of a message. */
export type MessageKey = keyof typeof texts;

/** What is wrong with one field of a request. */
export interface Problem {
  readonly field: string;
  readonly key: MessageKey;
  readonly values?: Readonly<Record<string, string | number>> | undefined;
}

/** The request was understood and refused: 422 with a message for each field. */
export class Invalid extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`invalid: ${problems.map(({ field, key }) => `${field} ${key}`).join(", ")}`);
    this.name = "Invalid";
    this.problems = problems;
  }
}

/** No such record in this company: 404. */
export class Missing extends Error {
  constructor() {
    super("No query results for model.");
    this.name = "Missing";
  }
}

/** Is it the service's own refusal: against its rules, or there is no such record? */
export function isRefusedByRules(cause: unknown): cause is Invalid | Missing {
  return cause instanceof Invalid || cause instanceof Missing;
}

type Identified = { readonly id: number };

/** Collects the problems of a request, so that one answer names them all. */
export class Problems {
  readonly list: Problem[] = [];

  /** Adds the problem unless `holds`. */
  expect(holds: boolean, field: string, key: MessageKey, values?: Problem["values"]): void {
    if (!holds) this.list.push({ field, key, values });
  }

  /** Adds the problem `exists` if the field names a record that is not there; it may name none. */
  expectIn(records: { has(id: number): boolean }, field: string, id: number | null | undefined): void {
    this.expect(id === null || id === undefined || records.has(id), field, "exists");
  }

  /** Adds the problem `unique` if another record than `own` is among those with the same value. */
  expectUnique(field: string, same: readonly Identified[], own: Identified | null): void {
    this.expect(
      same.every(({ id }) => id === own?.id),
      field,
      "unique",
    );
  }
}

/** Runs the checks and refuses the request with all problems that they found. */
export function check(checks: (problems: Problems) => void): void {
  const problems = new Problems();
  checks(problems);
  if (problems.list.length > 0) throw new Invalid(problems.list);
}

/** Refuses the request for one reason. */
export function refuse(field: string, key: MessageKey, values?: Problem["values"]): never {
  throw new Invalid([{ field, key, values }]);
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
