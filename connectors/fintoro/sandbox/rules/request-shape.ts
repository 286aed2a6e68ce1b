import { z } from "zod";
import { isDate } from "../base/calendar.ts";
import type { MessageKey, Problem } from "./messages.ts";
import { Invalid } from "./problems.ts";

/** Building blocks of request bodies. */
export const text = (max = 255) => z.string().max(max);
export const id = () => z.int();
export const number = (min = -1e13, max = 1e13) => z.number().min(min).max(max);
export const date = () => z.string().refine(isDate, { params: { key: "date" } });
export const email = () => z.email().max(255);
/** A payment symbol: a whole number of at most so many digits. */
export const symbol = (digits: number) =>
  z
    .int()
    .min(0)
    .max(10 ** digits - 1);

/** A string that passes the test; everything in a query is a string. `key` names the message. */
const queryPart = (test: (value: string) => boolean, key: MessageKey) =>
  z.string().refine(test, { params: { key }, abort: true });

/** Building blocks of queries; each may be left out. */
export const queryInt = (min = -Number.MAX_VALUE, max = Number.MAX_VALUE) =>
  queryPart((value) => /^-?\d+$/.test(value), "integer")
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .optional();
export const queryNumber = () =>
  queryPart((value) => value.trim() !== "" && Number.isFinite(Number(value)), "numeric")
    .transform(Number)
    .optional();
export const queryFlag = () =>
  queryPart((value) => ["true", "false", "1", "0"].includes(value), "boolean")
    .transform((value) => value === "true" || value === "1")
    .optional();
export const queryOneOf = <const V extends readonly [string, ...string[]]>(values: V) =>
  z.enum(values).optional();

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
  if (value === undefined || (value === null && issue.code === "invalid_type"))
    return { field, key: "required" };
  const { code } = issue;
  if (code === "too_big")
    return { field, key: sized("max", issue.origin), values: { limit: Number(issue.maximum) } };
  if (code === "too_small")
    return { field, key: sized("min", issue.origin), values: { limit: Number(issue.minimum) } };
  if (code === "invalid_type") return { field, key: typeKeys[issue.expected] ?? "in" };
  if (code === "invalid_format") return { field, key: formatKeys[issue.format] ?? "string" };
  return {
    field,
    key: code === "custom" ? ((issue.params?.["key"] as MessageKey | undefined) ?? "in") : "in",
  };
}

const typeKeys: Readonly<Record<string, MessageKey>> = {
  string: "string",
  int: "integer",
  number: "numeric",
  boolean: "boolean",
  array: "array",
  object: "array",
};
const formatKeys: Readonly<Record<string, MessageKey>> = { email: "email", url: "url", uuid: "uuid" };

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
