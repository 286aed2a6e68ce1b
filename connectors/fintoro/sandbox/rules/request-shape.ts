import type { z } from "zod";
import { everyKey } from "../base/values.ts";
import { Invalid, type Problem } from "./problems.ts";

/** Fields of a request that may be left out; they cannot be null. */
export const optional = <const K extends readonly string[], T extends z.ZodType>(names: K, type: T) =>
  everyKey(names, type.optional());
/** Fields of a request that may be null or left out. */
export const nullable = <const K extends readonly string[], T extends z.ZodType>(names: K, type: T) =>
  everyKey(names, type.nullish());

/**
 * The typed value of a request.
 *
 * @throws Invalid with a problem for each field that does not fit
 */
export function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw new Invalid(
    result.error.issues.map(({ path, input: sent }): Problem => {
      return { field: path.join("."), key: (sent ?? null) === null ? "required" : "invalid" };
    }),
  );
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
