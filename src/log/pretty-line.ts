import pc from "picocolors";

export interface LogRecord {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const colours = { on: pc.createColors(true), off: pc.createColors(false) };

/** What a person reads from the sentence itself. */
const forMachines = new Set(["kind"]);

/** One record for a person at a terminal: the time, what happened, and below it what to do next. */
export function prettyLine(record: LogRecord, colour: boolean): string {
  const paint = colour ? colours.on : colours.off;
  const { level, time, msg, hint, stack, ...fields } = record;
  const label = { error: paint.red("error: "), warn: paint.yellow("warning: ") }[level] ?? "";
  const told = Object.entries(fields).filter(([name]) => !forMachines.has(name));
  const details = told.map(([name, value]) => `${name}=${shown(value)}`);
  const text = visible(msg)
    .split("\n")
    .join(`\n${" ".repeat(10)}`);
  const first = [
    `${paint.dim(clockTime(time))}  ${label}${text}`,
    ...details.map((detail) => paint.dim(detail)),
  ];
  const below = [
    hint === undefined ? [] : [`hint: ${wording(hint)}`],
    stack === undefined ? [] : wording(stack).split("\n"),
  ];
  return [first.join("  "), ...below.flat().map((line) => `${" ".repeat(10)}${paint.dim(line)}`)].join("\n");
}

function wording(value: unknown): string {
  return visible(typeof value === "string" ? value : JSON.stringify(value));
}

function shown(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return visible(value);
  return visible(JSON.stringify(value));
}

/** In the time zone of who watches. */
function clockTime(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8);
}

/** The service's texts cannot move the cursor, colour the screen or turn the direction of a line. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === "\n" ? character : escape(character),
  );
}

function escape(character: string): string {
  return `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`;
}
