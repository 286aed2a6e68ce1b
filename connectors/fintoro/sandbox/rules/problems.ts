import texts from "./messages.json" with { type: "json" };

/** The name of a message. */
type MessageKey = keyof typeof texts;

/** What is wrong with one field of a request. */
export interface Problem {
  readonly field: string;
  readonly key: MessageKey;
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

/** Refuses the request for one reason. */
export function refuse(field: string, key: MessageKey = "invalid"): never {
  throw new Invalid([{ field, key }]);
}

/** The message in Slovak, or in English for all other languages. */
export function message(key: MessageKey, language: string, attribute = ""): string {
  const [english = "", slovak = ""] = texts[key].split(" | ");
  return (language === "sk" ? slovak : english).replace(":attribute", attribute);
}

/** The `errors` of a 422 body: field -> messages. They call `clientId` "client id". */
export function errorMap(problems: readonly Problem[], language: string): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { field, key } of problems) {
    const attribute = field.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    (errors[field] ??= []).push(message(key, language, attribute));
  }
  return errors;
}
