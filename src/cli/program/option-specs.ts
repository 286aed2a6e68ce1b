import { isCalendarDay } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { parseMoment, parsePosition } from "../../base/ids.ts";
import { parseDurationMs } from "../../base/units.ts";
import { folderForm, placeForm } from "../../config/address.ts";
import type { LoadOptions } from "../../config/load.ts";
import { parseShard } from "../../status/shards.ts";

interface OptionSpec<T> {
  /** As help shows it: `-c, --config <file>`. */
  readonly flags: string;
  readonly doc: string;
  readonly usual: T;
  readonly repeats?: true;
  /** All that it takes; absent: any text. */
  readonly values?: readonly string[];
  /** `before`: what the option gave earlier. @throws MirrorError `usage` for a text that is not allowed */
  readonly parse?: (text: string, name: string, before?: unknown) => T;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>;
export type OptionValues<S extends OptionSpecs> = { readonly [K in keyof S]: S[K]["usual"] };

export interface CommandSpec<S extends OptionSpecs = OptionSpecs> {
  readonly summary: string;
  /** As help shows them: `[resource...]`. */
  readonly args?: readonly { readonly name: string; readonly doc: string }[];
  readonly options: S;
  /** Options of which the first goes with none of the others. */
  readonly conflicts?: readonly (readonly string[])[];
  /** What follows the name on a command line, and what that does. Help shows two. */
  readonly examples: Readonly<Record<string, string>>;
  /** A pager shows the output, on a terminal; not with `--follow`. */
  readonly isPaged?: true;
  /**
   * Secrets that the config must hold. It is read before the command is loaded, but for `none` and for `own`: that command
   * reads it by itself. @default "when_used"
   */
  readonly config?: NonNullable<LoadOptions["secrets"]> | "none" | "own";
  /** Its companies are in Postgres: the config must have `fleet`, and may have no companies. */
  readonly forFleet?: true;
}

/** An option without a value: true when given, and `--no-…` false. */
export function flag(flags: string, doc: string): OptionSpec<boolean> {
  return { flags, doc, usual: false };
}

export function text(flags: string, doc: string): OptionSpec<string | undefined> {
  return { flags, doc, usual: undefined };
}

/** An option with any text that may be given several times. */
export function texts(flags: string, doc: string): OptionSpec<readonly string[]> {
  return { flags, doc, usual: [], repeats: true };
}

export function choice<const V extends readonly string[], D extends V[number] | undefined = undefined>(
  flags: string,
  doc: string,
  values: V,
  usual?: D,
): OptionSpec<V[number] | D> {
  return { flags, doc, values, usual: usual as D };
}

/** Makes options with a text of a certain form; any other text is refused with what it `must` be. */
function parsed<T>(must: string, read: (given: string) => T | null, hint?: string) {
  const parse = (given: string, name: string) => {
    const value = read(given);
    if (value !== null) return value;
    throw new MirrorError("usage", `${name} must be ${must} (it is "${given}")`, { hint });
  };
  return (flags: string, doc: string): OptionSpec<T | undefined> => ({ flags, doc, usual: undefined, parse });
}

const ofForm = (form: RegExp) => (given: string) => (form.test(given) ? given : null);

export const month = parsed("a month such as 2026-10", ofForm(/^(19|2\d)\d\d-(0[1-9]|1[0-2])$/));
export const path = parsed("a folder or file", ofForm(folderForm));
export const place = parsed("a folder, or s3://BUCKET/PREFIX", ofForm(placeForm));
export const day = parsed("a day such as 2026-10-31", (given) => (isCalendarDay(given) ? given : null));
export const durationMs = parsed("a duration such as 90s, 30m or 26h", parseDurationMs);
export const position = parsed(
  "LOG:SEQ, or a position of the change log alone",
  parsePosition,
  "the manifest of an export and each line of `changes` say both",
);
export const moment = parsed(
  "a day such as 2026-10-25, a time such as 2026-10-25T18:00:00Z, or a position LOG:SEQ",
  parseMoment,
);
export const shard = parsed(
  "I/N with I from 1 to N, such as 2/3",
  parseShard,
  "with three jobs give them 1/3, 2/3 and 3/3: each company is in one of them, by its name",
);

/** Some of these words with commas between them, or `none`. */
export function wordList<const V extends readonly string[]>(flags: string, doc: string, known: V) {
  const read = (given: string): V[number][] | null => {
    const named = given.split(",").map((word) => word.trim());
    const chosen = named.filter((word) => word !== "" && word !== "none");
    return chosen.every((word) => known.includes(word)) ? chosen : null;
  };
  return parsed(`${known.join(", ")} with commas between them, or none`, read)(flags, doc);
}

export function wholeNumber(flags: string, doc: string, min = 1, max = 100_000_000) {
  const read = (given: string) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    return value >= min && value <= max ? value : null;
  };
  return parsed(`a whole number from ${min} to ${max}`, read)(flags, doc);
}

const sizes: Readonly<Record<string, number>> = { small: 60, medium: 5_000 };

export const documentCount = parsed(
  "small (60 documents), medium (5,000) or a whole number up to 1,000,000",
  (given) => {
    const digits = given.replaceAll(/[_ ]/g, "");
    const count = sizes[given] ?? (/^\d{1,7}$/.test(digits) ? Number(digits) : Infinity);
    return count <= 1_000_000 ? count : null;
  },
);

const joined = (given: string, _name: string, before?: unknown) =>
  typeof before === "string" ? `${before},${given}` : given;

/** Options of every command, given before or after its name. */
export const globalOptions = {
  config: text("-c, --config <file>", "the config; else $FINTORO_MIRROR_CONFIG, else ./config.yaml"),
  company: { ...text("--company <name>", "only this company of the config, or several: a,b"), parse: joined },
  json: flag("--json", "one JSON document on stdout"),
  quiet: flag("-q, --quiet", "warnings and errors only"),
  verbose: flag("-v, --verbose", "details, and the stack of errors"),
  color: flag("--no-color", "no colours"),
  pager: flag("--no-pager", "long output at once, not through $PAGER or less"),
  logFormat: choice("--log-format <format>", "lines on stderr", ["auto", "pretty", "json"], "auto"),
};

export type Globals = OptionValues<typeof globalOptions>;

/** The globals before the command line is parsed, for an error in the command line itself. */
export function earlyGlobals(argv: readonly string[]): Globals {
  const formats = argv.join("\n").matchAll(/^--log-format[=\n](pretty|json)$/gm);
  const usual = Object.entries(globalOptions).map(([name, option]) => [name, option.usual]);
  return {
    ...(Object.fromEntries(usual) as Globals),
    json: argv.includes("--json"),
    verbose: argv.includes("-v") || argv.includes("--verbose"),
    color: !argv.includes("--no-color"),
    logFormat: ([...formats].at(-1)?.[1] ?? "auto") as Globals["logFormat"],
  };
}
