import type { z } from "zod";

const texts = {
  given: ["The given data was invalid.", "Zadané údaje nie sú platné."],
  required: ["The :attribute field is required.", "Pole :attribute je povinné."],
  invalid: ["The selected :attribute is invalid.", "Vybraná hodnota poľa :attribute nie je platná."],
  unique: ["The :attribute has already been taken.", "Hodnota poľa :attribute sa už používa."],
} as const;

export interface FieldProblem {
  readonly field: string;
  readonly key: keyof typeof texts;
}

/** The request was understood and refused: 422 with a message for each field. */
export class Invalid extends Error {
  readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[]) {
    super(`invalid: ${problems.map(({ field, key }) => `${field} ${key}`).join(", ")}`);
    this.name = "Invalid";
    this.problems = problems;
  }

  /** `{ message, errors }` in Slovak, or in English for all other languages. It calls `clientId` "client id". */
  body(language: string) {
    const say = (key: keyof typeof texts) => texts[key][language === "sk" ? 1 : 0];
    const errors: Record<string, string[]> = {};
    for (const { field, key } of this.problems) {
      const attribute = field.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
      (errors[field] ??= []).push(say(key).replace(":attribute", attribute));
    }
    return { message: say("given"), errors };
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

export function refuse(field: string, key: FieldProblem["key"] = "invalid"): never {
  throw new Invalid([{ field, key }]);
}

/** @throws Missing where there is no record */
export function present<T>(record: T | undefined): T {
  if (record === undefined) throw new Missing();
  return record;
}

/** The typed value of a request. @throws Invalid with a problem for each field that does not fit */
export function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw new Invalid(
    result.error.issues.map(({ path, input: sent }) => {
      return { field: path.join("."), key: (sent ?? null) === null ? "required" : "invalid" };
    }),
  );
}

/** The request with null in every field of the schema that was left out. */
export function filled<T extends z.ZodObject>(schema: T, sent: z.output<T>) {
  const fields = Object.keys(schema.shape).map((field) => [field, sent[field as keyof typeof sent] ?? null]);
  return Object.fromEntries(fields) as Filled<z.output<T>>;
}
type Filled<T> = { [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] };

/** The fields of a request that were sent, null included. */
export function sentOnly<T extends object>(sent: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const fields = Object.entries(sent).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
