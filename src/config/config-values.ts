import { z } from "zod";
import { nearest } from "../base/names.ts";
import { formatDuration, formatSize, parseDurationMs, parseSizeBytes } from "../base/units.ts";

/** A text read as something else: its value, or what it would have to be. */
export type Reading<T> = { readonly value: T } | { readonly must: string };

/** A text that `read` understands. `phrase` completes "it must be …". */
export function readable<T>(phrase: string, read: (text: string) => Reading<T>) {
  return z.string({ error: `must be ${phrase}` }).transform((text, context) => {
    const reading = read(text.trim());
    if ("value" in reading) return reading.value;
    context.addIssue({ code: "custom", message: `must ${reading.must}` });
    return z.NEVER;
  });
}

export function duration(minMs: number, maxMs: number) {
  const phrase = `a duration from ${shortDuration(minMs)} to ${shortDuration(maxMs)} such as "30s" or "5m"`;
  return readable(phrase, (text) => within(parseDurationMs(text), minMs, maxMs, phrase));
}

function shortDuration(ms: number): string {
  return ms < 1000 ? `${ms}ms` : formatDuration(ms);
}

export function size(minBytes: number, maxBytes: number) {
  const phrase = `a size from ${formatSize(minBytes)} to ${formatSize(maxBytes)} such as "256MB"`;
  return readable(phrase, (text) => within(parseSizeBytes(text), minBytes, maxBytes, phrase));
}

/** A percentage, as a share of 1. */
export function share(maxPercent: number) {
  const phrase = `a percentage from 0% to ${maxPercent}% such as "10%"`;
  return readable(phrase, (text) => {
    const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
    const percent = within(match ? Number(match[1]) : null, 0, maxPercent, phrase);
    return "value" in percent ? { value: percent.value / 100 } : percent;
  });
}

function within(value: number | null, min: number, max: number, phrase: string): Reading<number> {
  return value !== null && value >= min && value <= max ? { value } : { must: `be ${phrase}` };
}

export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** One of a few words; a near miss is told which one was meant. */
export function oneOf<const V extends readonly [string, ...string[]]>(values: V) {
  return z.enum(values, {
    error: (issue) => `must be one of ${values.join(", ")}${didYouMean(issue.input, values)}`,
  });
}

export function didYouMean(value: unknown, candidates: Iterable<string>): string {
  const meant = typeof value === "string" ? nearest(value, candidates) : undefined;
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}

export function toggle() {
  const either = z.union([z.boolean(), z.enum(["on", "off"])], { error: "must be on or off" });
  return either.transform((word) => word === true || word === "on");
}

export function words(phrase: string) {
  return readable(phrase, (text) => held(text, text !== "", phrase));
}

function held(text: string, holds: boolean, phrase: string): Reading<string> {
  return holds ? { value: text } : { must: `be ${phrase}` };
}

const cronField = /^[\d*,\-/?#LWA-Za-z]+$/;

/** The pattern's form; whether its numbers make sense is the scheduler's to say. */
export function cronPattern(alternatives = "") {
  const phrase = `a cron pattern such as "15 2 * * *"${alternatives}`;
  return readable(phrase, (text) => {
    const fields = text.split(/\s+/);
    const formed = fields.length >= 5 && fields.length <= 6 && fields.every((field) => cronField.test(field));
    return held(text, formed, phrase);
  });
}

export function timezone() {
  const phrase = "a time zone such as Europe/Bratislava";
  return readable(phrase, (text) => held(text, isTimezone(text), phrase));
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
