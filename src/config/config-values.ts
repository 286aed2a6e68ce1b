/** Values of the config file: each reads a text (or word, or number) and says what it must be where it cannot. */
import { valueOr } from "../base/errors.ts";
import path from "node:path";
import { Cron } from "croner";
import { z } from "zod";
import { didYouMean } from "../base/names.ts";
import { formatDuration, formatSize, parseDurationMs, parseSizeBytes } from "../base/units.ts";
import { bucketForm, folderForm, type TextValue } from "./address.ts";

/** A folder, which gives an absolute path, or `s3://bucket/prefix`, without a slash at its end. */
export function folderOrBucket(start: string) {
  return readableText("a folder, or a place such as s3://bucket/prefix", (text) =>
    bucketForm.test(text) ? { value: text.replace(/\/+$/, "") } : folderAt(start, text),
  );
}

/** A folder; gives an absolute path. */
export function folderText(start: string) {
  return readableText("a folder", (text) => folderAt(start, text));
}

function folderAt(start: string, text: string): TextValue<string> | null {
  if (!folderForm.test(text)) return null;
  if (/^~(\/|$)|\$\{/.test(text)) return { must: "be a path as it is: ~ and ${…} stand for nothing in it" };
  return { value: path.resolve(start, text) };
}

type CamelCase<K> = K extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : K;

/** What a section gives: its keys in camelCase, and null for what is left out. */
type SectionValues<T> = {
  [K in keyof T as CamelCase<K>]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

/** A map of keys; a key that is not among them is refused. */
export function section<S extends z.core.$ZodShape>(keys: S) {
  const names = Object.keys(keys).map((key) => [
    key,
    key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  ]);
  return z
    .strictObject(keys, { error: "must be a map of keys" })
    .transform((given: Record<string, unknown>) => {
      const named = names.map(([key = "", name = ""]) => [name, given[key] ?? null]);
      return Object.fromEntries(named) as SectionValues<z.output<z.ZodObject<S>>>;
    });
}

/** Any text; for what may be a secret, so that no message repeats it. */
export const secretText = z
  .string({ error: "must be text; put it in quotes" })
  .min(1, { error: "must not be empty" });

export const reference = "${env:NAME}, ${file:/path}, or (with a warning) the text itself";

/** A text that `read` understands; null: it is not what `phrase` says, which completes "it must be …". */
export function readableText<T>(phrase: string, read: (text: string) => TextValue<T> | null) {
  return z.string({ error: `must be ${phrase}` }).transform((text, context) => {
    const result = read(text.trim()) ?? { must: `be ${phrase}` };
    if ("value" in result) return result.value;
    context.addIssue({ code: "custom", message: `must ${result.must}` });
    return z.NEVER;
  });
}

/** A duration such as `30s`; gives milliseconds. */
export function durationText(minMs: number, maxMs: number, alternatives = "") {
  const phrase = `a duration from ${shortDuration(minMs)} to ${shortDuration(maxMs)} such as "30s" or "5m"${alternatives}`;
  return readableText(phrase, (text) => within(parseDurationMs(text), minMs, maxMs));
}

function shortDuration(ms: number): string {
  return ms < 1000 ? `${ms}ms` : formatDuration(ms);
}

/** A size such as `256MB`; gives bytes. */
export function sizeText(minBytes: number, maxBytes: number) {
  const phrase = `a size from ${formatSize(minBytes)} to ${formatSize(maxBytes)} such as "256MB"`;
  return readableText(phrase, (text) => within(parseSizeBytes(text), minBytes, maxBytes));
}

/** A number that is in a range, as what a text gives. */
export function within(value: number | null, min: number, max: number): { readonly value: number } | null {
  return value !== null && value >= min && value <= max ? { value } : null;
}

/** A whole number, both ends included. */
export function integerBetween(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function oneOfWords<const V extends readonly [string, ...string[]]>(values: V) {
  return z.enum(values, {
    error: (issue) => `must be one of ${values.join(", ")}${didYouMean(issue.input, values)}`,
  });
}

export function tablesOf(table: z.ZodType<string>) {
  return z
    .array(table, { error: "must be a list of tables" })
    .min(1, { error: "must name at least one table" });
}

/** `on`, `off`, or what YAML makes of them. */
export function onOrOff() {
  const either = z.union([z.boolean(), z.enum(["on", "off"])], { error: "must be on or off" });
  return either.transform((word) => word === true || word === "on");
}

export function filledText(phrase: string) {
  return readableText(phrase, (text) => (text === "" ? null : { value: text }));
}

/** A cron pattern of five fields, or six with seconds, that names a time to come: the 31st of February never does. */
export function cronText(alternatives = "") {
  return readableText(`a cron pattern such as "15 2 * * *"${alternatives}`, (text) => {
    const next = valueOr(() => new Cron(text, { paused: true }).nextRun(), undefined);
    if (next === undefined || !/^\S+(\s+\S+){4,5}$/.test(text)) return null;
    return next === null ? { must: "name a time that comes" } : { value: text };
  });
}
