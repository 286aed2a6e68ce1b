import { Secret } from "../base/secret.ts";

type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

const maxDepth = 6;
const maxItems = 100;
const maxTextLength = 4_000;
/** Values under these names are masked even when nobody knew them to be secret (a fresh webhook secret). */
const secretKey = /^(authorization|cookie|token|accesstoken|secret|plaintextsecret|password)$/i;

export interface PlainOptions {
  readonly redact: (text: string) => string;
  readonly stacks: boolean;
}

/**
 * Anything as data that may be written to a log: redacted first and shortened afterwards, at every depth,
 * in keys, in errors and their causes.
 */
export function plain(
  value: unknown,
  options: PlainOptions,
  depth = 0,
  above: readonly unknown[] = [],
): Plain {
  if (typeof value === "string") return shortened(options.redact(value));
  if (typeof value === "number")
    return hides(String(value), options) ?? (Number.isFinite(value) ? value : String(value));
  if (typeof value === "bigint") return options.redact(String(value));
  if (value === null || typeof value === "boolean") return value;
  if (typeof value !== "object") return typeof value;
  if (value instanceof Secret) return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "no date" : value.toISOString();
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (above.includes(value)) return "circular";
  if (depth >= maxDepth) return "deeper";
  const inner = (each: unknown) => plain(each, options, depth + 1, [...above, value]);
  if (Array.isArray(value)) return items(value, inner);
  if (value instanceof Map || value instanceof Set) return items([...value], inner);
  return entries(value instanceof Error ? errorFacts(value, options.stacks) : value, options, inner);
}

function shortened(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}… (${text.length} characters)`;
}

function hides(text: string, options: PlainOptions): string | null {
  const shown = options.redact(text);
  return shown === text ? null : shown;
}

function items(values: readonly unknown[], inner: (each: unknown) => Plain): Plain[] {
  const shown = values.slice(0, maxItems).map((each) => inner(each));
  return values.length > maxItems ? [...shown, `… ${values.length} items`] : shown;
}

function entries(value: object, options: PlainOptions, inner: (each: unknown) => Plain): Plain {
  const pairs = Object.entries(value)
    .filter(([, each]) => each !== undefined && typeof each !== "function")
    .slice(0, maxItems)
    .map(([key, each]) => [
      options.redact(key),
      secretKey.test(key.replaceAll(/[_-]/g, "")) ? "***" : inner(each),
    ]);
  return Object.fromEntries(pairs) as { [key: string]: Plain };
}

function errorFacts(error: Error, stacks: boolean): object {
  const { name, message, cause, stack } = error;
  const own = Object.entries(error).filter(([key]) => key !== "name");
  return { type: name, message, ...Object.fromEntries(own), cause, ...(stacks ? { stack } : {}) };
}
