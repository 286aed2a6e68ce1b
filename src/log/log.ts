import pc from "picocolors";
import pino from "pino";
import { isoTime, type Clock } from "../base/clock.ts";
import type { Log, LogFields, LogLevel } from "../base/logger.ts";
import { Secret, type Redactor } from "../base/secret.ts";
import { safeJson, terminalText } from "../base/terminal-text.ts";

type LogFormat = "pretty" | "json";

interface LogOptions {
  /** Takes one line, or several for `pretty`, without the line break at the end. */
  readonly write: (text: string) => void;
  readonly format: LogFormat;
  readonly level: LogLevel;
  readonly colour: boolean;
  /** Of the secrets known so far; the config adds its own when it is read. */
  readonly redaction: Redactor;
  readonly clock: Clock;
}

export interface AdjustableLog extends Log {
  setLevel(level: LogLevel): void;
}

/** `auto`: pretty for a terminal, JSON for everything else. */
export function logFormat(choice: "auto" | LogFormat, terminal: boolean): LogFormat {
  if (choice !== "auto") return choice;
  return terminal ? "pretty" : "json";
}

/** Creates a log that shows no secret known to `redaction`, wherever in a record it is (I9). */
export function createLogger({ write, redaction, clock, format, level, colour }: LogOptions): AdjustableLog {
  const redact = (text: string) => redaction.replace(text);
  const writeRecord = (line: string) => {
    const text = line.trimEnd();
    write(format === "json" ? safeJson(text) : prettyLine(JSON.parse(text) as LogRecord, colour));
  };
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoTime(clock.nowMs())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: writeRecord },
  );
  const at =
    (lineLevel: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (!logger.isLevelEnabled(lineLevel)) return;
      const options = { redact, stacks: logger.isLevelEnabled("debug") };
      logger[lineLevel](toLogData(withoutOwnNames(fields), options), redact(message));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    setLevel: (changed) => {
      logger.level = changed;
    },
  };
}

const ownNames = new Set(["level", "time", "msg"]);

/** A field does not replace one of the record's own. */
function withoutOwnNames(fields: LogFields): LogFields {
  const pairs = Object.entries(fields);
  return Object.fromEntries(pairs.map(([name, value]) => [ownNames.has(name) ? `${name}_` : name, value]));
}

type LogData = string | number | boolean | null | LogData[] | { [key: string]: LogData };

const maxDepth = 6;
const maxItems = 100;
const maxTextLength = 4_000;
/** Values under these names are masked even if they are not known as secrets, such as a new webhook secret. */
const secretKey = /^(authorization|cookie|token|accesstoken|secret|plaintextsecret|password)$/i;

type LogDataOptions = Readonly<{ redact: (text: string) => string; stacks: boolean }>;

/**
 * Any value as data that may be logged: redacted first and shortened afterwards, at every depth, in keys, in errors
 * and their causes. `above` are the values that contain it.
 */
function toLogData(value: unknown, options: LogDataOptions, above: readonly unknown[] = []): LogData {
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

function members(value: object, redact: (text: string) => string, inner: (each: unknown) => LogData) {
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

interface LogRecord {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const colours = { on: pc.createColors(true), off: pc.createColors(false) };
const indent = " ".repeat(10);

/**
 * A record for a person at a terminal: local time, level, message and fields, then the hint and the stack on
 * lines of their own. The field `kind` is left out: the message says it.
 */
function prettyLine(record: LogRecord, colour: boolean): string {
  const paint = colour ? colours.on : colours.off;
  const { level, time, msg, hint, stack, kind: _, ...fields } = record;
  const label = { error: paint.red("error: "), warn: paint.yellow("warning: ") }[level] ?? "";
  const clockTime = new Date(time).toTimeString().slice(0, 8);
  const text = safeLines(msg).join(`\n${indent}`);
  const details = Object.entries(fields).map(([name, value]) => paint.dim(`${name}=${fieldText(value)}`));
  const below = [
    ...(hint === undefined ? [] : safeLines(`hint: ${wording(hint)}`)),
    ...(stack === undefined ? [] : safeLines(wording(stack))),
  ];
  const first = [`${paint.dim(clockTime)}  ${label}${text}`, ...details].join("  ");
  return [first, ...below.map((line) => indent + paint.dim(line))].join("\n");
}

function wording(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function safeLines(text: string): string[] {
  return text.split("\n").map((line) => terminalText(line));
}

/** Quoted where it holds spaces, quotes or `=`. */
function fieldText(value: unknown): string {
  const isWord = typeof value === "string" && /^[^\s"=]+$/.test(value);
  return terminalText(isWord ? value : JSON.stringify(value));
}
