import pc from "picocolors";
import { terminalText } from "../base/terminal-text.ts";

/** One line of the log, parsed. */
export interface LogRecord {
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
export function prettyLine(record: LogRecord, colour: boolean): string {
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
