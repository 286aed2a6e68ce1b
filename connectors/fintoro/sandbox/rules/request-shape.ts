import { z } from "zod";
import { isCalendarDay } from "../../../../src/base/clock.ts";
import { lookupHas, type LookupName } from "../lookups/lookup-lists.ts";
import { Invalid, type MessageKey, type Problem } from "./problems.ts";

/** Building blocks of request bodies. */
export const text = (max = 255) => z.string().max(max);
export const id = () => z.int();
export const number = (min = -1e13, max = 1e13) => z.number().min(min).max(max);
export const date = () => z.string().refine(isCalendarDay, { params: { key: "date" } });
export const email = () => z.email().max(255);
/** A payment symbol: a whole number of at most so many digits. */
export const symbol = (digits: number) =>
  z
    .int()
    .min(0)
    .max(10 ** digits - 1);
/** The id of a value of a lookup. */
export const choice = (name: LookupName) =>
  z.int().refine((value) => lookupHas(name, value), { params: { key: "exists" } });

/** A string that passes the test; everything in a query is a string. `key` names the message. */
const queryPart = (pattern: RegExp, key: MessageKey) =>
  z.string().refine((value) => pattern.test(value), { params: { key }, abort: true });

/** Building blocks of queries; each may be left out. */
export const query = {
  int: (min = -Number.MAX_VALUE, max = Number.MAX_VALUE) =>
    queryPart(/^-?\d+$/, "integer")
      .transform(Number)
      .pipe(z.number().min(min).max(max))
      .optional(),
  number: () =>
    queryPart(/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i, "numeric")
      .transform(Number)
      .optional(),
  flag: () =>
    queryPart(/^(true|false|1|0)$/, "boolean")
      .transform((value) => value === "true" || value === "1")
      .optional(),
  oneOf: <const V extends readonly [string, ...string[]]>(values: V) => z.enum(values).optional(),
  text: () => text().optional(),
  date: () => date().optional(),
};

/**
 * The typed value of a request.
 *
 * @throws Invalid with a problem for each field that does not fit
 */
export function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new Invalid(result.error.issues.map((issue) => problemOf(issue, input)));
}

function problemOf(issue: z.core.$ZodIssue, input: unknown): Problem {
  const field = issue.path.join(".");
  const value = valueAt(input, issue.path);
  const { code } = issue;
  if (value === undefined || (value === null && code === "invalid_type")) return { field, key: "required" };
  if (code === "too_big") return { field, key: sized("max", issue.origin), values: limit(issue.maximum) };
  if (code === "too_small") return { field, key: sized("min", issue.origin), values: limit(issue.minimum) };
  if (code === "invalid_type") return { field, key: typeKeys[issue.expected] ?? "in" };
  if (code === "invalid_format") return { field, key: issue.format === "email" ? "email" : "uuid" };
  const named = code === "custom" ? (issue.params?.["key"] as MessageKey | undefined) : undefined;
  return { field, key: named ?? "in" };
}

const limit = (most: number | bigint) => ({ limit: Number(most) });

const typeKeys: Readonly<Record<string, MessageKey>> = {
  string: "string",
  int: "integer",
  number: "numeric",
  boolean: "boolean",
  array: "array",
  object: "array",
};

function sized(bound: "min" | "max", origin: string): MessageKey {
  if (origin === "string") return `${bound}_string`;
  return origin === "array" ? `${bound}_array` : `${bound}_number`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = input;
  for (const step of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return value;
}

/** The input with null for every empty string: the service takes an empty string as no value. */
export function emptyToNull(value: unknown): unknown {
  if (value === "") return null;
  if (Array.isArray(value)) return value.map(emptyToNull);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, emptyToNull(inner)]));
}

/** A parsed request in which no field is left out. */
export type Filled<T> = { [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] };

/** The request with null in every field of the schema that was left out. */
export function filled<T extends z.ZodObject>(schema: T, sent: z.output<T>): Filled<z.output<T>> {
  const fields = Object.keys(schema.shape).map((field) => [field, sent[field as keyof typeof sent] ?? null]);
  return Object.fromEntries(fields) as Filled<z.output<T>>;
}

/** The fields of a request that were sent, null included. */
export function sentOnly<T extends object>(sent: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const fields = Object.entries(sent).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
