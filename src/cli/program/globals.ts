import { choice, flag, negation, text, type OptionValues } from "./command-options.ts";

/** Taken by every command, before or after its name. */
export const globalOptions = {
  config: text(
    "-c, --config <file>",
    "the config; otherwise $FINTORO_MIRROR_CONFIG, otherwise ./config.yaml",
  ),
  company: text("--company <name>", "only this company of the config"),
  json: flag("--json", "one JSON document on stdout"),
  quiet: flag("-q, --quiet", "warnings and errors only"),
  verbose: flag("-v, --verbose", "details, and the stack of errors"),
  color: negation("--no-color", "no colours"),
  logFormat: choice("--log-format <format>", "lines on stderr", ["auto", "pretty", "json"], "auto"),
};

export type Globals = OptionValues<typeof globalOptions>;
