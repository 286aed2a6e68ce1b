import { Secret } from "../base/secret.ts";

type LogData = string | number | boolean | null | LogData[] | { [key: string]: LogData };

const maxDepth = 6;
const maxItems = 100;
const maxTextLength = 4_000;
/** Values under these names are masked even if they are not known as secrets, such as a new webhook secret. */
const secretKey = /^(authorization|cookie|token|accesstoken|secret|plaintextsecret|password)$/i;

/** How a value becomes data of the log. */
export interface LogDataOptions {
  readonly redact: (text: string) => string;
  /** With the stacks of errors. */
  readonly stacks: boolean;
}

/**
 * Any value as data that may be logged: redacted first and shortened afterwards, at every depth, in keys, in errors
 * and their causes. `above` are the values that contain it.
 */
export function toLogData(value: unknown, options: LogDataOptions, above: readonly unknown[] = []): LogData {
  const { redact } = options;
  if (typeof value === "string") return shortened(redact(value));
  if (typeof value === "number") {
    const text = String(value);
    return redact(text) === text && Number.isFinite(value) ? value : redact(text);
  }
  if (typeof value === "bigint") return redact(String(value));
  if (value === null || typeof value === "boolean") return value;
  if (typeof value !== "object") return typeof value;
  if (value instanceof Secret) return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "no date" : value.toISOString();
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (above.includes(value)) return "circular";
  if (above.length >= maxDepth) return "deeper";
  const inner = (each: unknown) => toLogData(each, options, [...above, value]);
  if (Array.isArray(value)) return items(value, inner);
  if (value instanceof Map || value instanceof Set) return items([...value], inner);
  return members(value instanceof Error ? errorFacts(value, options.stacks) : value, redact, inner);
}

function shortened(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}… (${text.length} characters)`;
}

function items(values: readonly unknown[], inner: (each: unknown) => LogData): LogData[] {
  const shown = values.slice(0, maxItems).map((each) => inner(each));
  return values.length > maxItems ? [...shown, `… ${values.length} items`] : shown;
}

function members(
  value: object,
  redact: (text: string) => string,
  inner: (each: unknown) => LogData,
): LogData {
  const pairs = Object.entries(value)
    .filter(([, each]) => each !== undefined && typeof each !== "function")
    .slice(0, maxItems)
    .map(([key, each]) => [redact(key), secretKey.test(key.replaceAll(/[_-]/g, "")) ? "***" : inner(each)]);
  return Object.fromEntries(pairs) as { [key: string]: LogData };
}

function errorFacts(error: Error, stacks: boolean): object {
  const { name, message, cause, stack } = error;
  const own = Object.entries(error).filter(([key]) => key !== "name");
  return { type: name, message, ...Object.fromEntries(own), cause, ...(stacks ? { stack } : {}) };
}
