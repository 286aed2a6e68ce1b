import { z } from "zod";
import { isDate } from "../base/calendar.ts";
import type { MessageKey } from "./messages.ts";
import type { Problem } from "./messages.ts";
import { Invalid } from "./refusals.ts";

/** Building blocks of request bodies and queries. A `key` in a custom check is a message of ours. */
export const text = (max = 255) => z.string().max(max);
export const id = () => z.int();
export const number = (min = -1e13, max = 1e13) => z.number().min(min).max(max);
export const date = () => z.string().refine(isDate, { params: { key: "date" } });
export const email = () => z.email().max(255);

const digits = /^-?\d+$/;

/** In a query everything is text. */
export const queryInt = (min?: number, max?: number) => {
  const whole = z.string().refine((text_) => digits.test(text_), { params: { key: "integer" }, abort: true });
  let value = z.number();
  if (min !== undefined) value = value.min(min);
  if (max !== undefined) value = value.max(max);
  return whole.transform(Number).pipe(value).optional();
};
export const queryNumber = () =>
  z
    .string()
    .refine((text_) => text_.trim() !== "" && Number.isFinite(Number(text_)), {
      params: { key: "numeric" },
      abort: true,
    })
    .transform(Number)
    .optional();
export const queryFlag = () =>
  z
    .string()
    .refine((text_) => ["true", "false", "1", "0"].includes(text_), {
      params: { key: "boolean" },
      abort: true,
    })
    .transform((text_) => text_ === "true" || text_ === "1")
    .optional();
export const queryDate = () => date().optional();
export const queryText = (max = 255) => z.string().max(max).optional();
export const queryOneOf = <const V extends readonly [string, ...string[]]>(values: V) =>
  z.enum(values).optional();

/** The typed value, or a 422 that names every field. */
export function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new Invalid(result.error.issues.flatMap((issue) => problemsOf(issue, input)));
}

function problemsOf(issue: z.core.$ZodIssue, input: unknown): Problem[] {
  const field = issue.path.join(".");
  const value = valueAt(input, issue.path);
  if (value === undefined || (value === null && issue.code === "invalid_type"))
    return [{ field, key: "required" }];
  if (issue.code === "invalid_type") return [{ field, key: typeKeys[issue.expected] ?? "in" }];
  if (issue.code === "too_big") {
    return [{ field, key: sized("max", issue.origin), values: { limit: Number(issue.maximum) } }];
  }
  if (issue.code === "too_small") {
    return [{ field, key: sized("min", issue.origin), values: { limit: Number(issue.minimum) } }];
  }
  if (issue.code === "invalid_format") return [{ field, key: formatKeys[issue.format] ?? "string" }];
  if (issue.code === "custom")
    return [{ field, key: (issue.params?.["key"] as MessageKey | undefined) ?? "in" }];
  return [{ field, key: "in" }];
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

/** An empty string is no value, as the service's framework has it. */
export function emptyToNull(value: unknown): unknown {
  if (value === "") return null;
  if (Array.isArray(value)) return value.map(emptyToNull);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, emptyToNull(inner)]));
}
