import { choice, flag, text, type Given, type OptionValues } from "./option-specs.ts";

/** Options of every command, given before or after its name. */
export const globalOptions = {
  config: text(
    "-c, --config <file>",
    "the config; otherwise $FINTORO_MIRROR_CONFIG, otherwise ./config.yaml",
  ),
  company: text("--company <name>", "only this company of the config, or several: a,b"),
  json: flag("--json", "one JSON document on stdout"),
  quiet: flag("-q, --quiet", "warnings and errors only"),
  verbose: flag("-v, --verbose", "details, and the stack of errors"),
  color: { flags: "--no-color", doc: "no colours", read: (given: Given) => given !== false },
  pager: {
    flags: "--no-pager",
    doc: "long output at once, not through $PAGER or less",
    read: (given: Given) => given !== false,
  },
  logFormat: choice("--log-format <format>", "lines on stderr", ["auto", "pretty", "json"], "auto"),
};

export type Globals = OptionValues<typeof globalOptions>;

/** The globals before the command line is parsed, for an error in the command line itself. */
export function earlyGlobals(argv: readonly string[]): Globals {
  const formats = argv.join("\n").matchAll(/^--log-format[=\n](pretty|json)$/gm);
  return {
    config: undefined,
    company: undefined,
    json: argv.includes("--json"),
    quiet: false,
    verbose: argv.includes("-v") || argv.includes("--verbose"),
    color: !argv.includes("--no-color"),
    pager: false,
    logFormat: globalOptions.logFormat.read([...formats].at(-1)?.[1]),
  };
}
