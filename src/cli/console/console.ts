import type { Clock } from "../../base/clock.ts";
import { createLogger, logFormat, type AdjustableLog } from "../../log/log.ts";
import { createRedaction, type Redaction } from "../../log/redaction.ts";
import { canDraw, createScreen, wantsColour, type OutputStream, type Screen } from "../../log/screen.ts";
import { failureOf } from "./failure-text.ts";
import { globalOptions, type Globals } from "../program/globals.ts";
import type { Output } from "./output.ts";

/** How one invocation speaks: its lines on stderr, its data on stdout, and what both keep secret. */
export interface Console {
  readonly screen: Screen;
  readonly log: AdjustableLog;
  readonly output: Output;
  readonly redaction: Redaction;
  readonly colour: boolean;
  readonly json: boolean;
}

export interface Surroundings {
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

export function createConsole(
  { stderr, env, clock }: Surroundings,
  globals: Globals,
  output: Output,
): Console {
  const format = logFormat(globals.logFormat, stderr.isTTY === true);
  const colour = wantsColour(stderr, env, globals.color);
  const screen = createScreen(stderr, format === "pretty" && !globals.quiet && canDraw(stderr, env));
  const redaction = createRedaction();
  const write = (text: string) => screen.line(text);
  const level = flaggedLevel(globals) ?? "info";
  const log = createLogger({ write, format, level, colour, redaction, clock });
  return { screen, log, output, redaction, colour, json: globals.json };
}

/** -v and -q win over the config. */
export function flaggedLevel(globals: Globals): "debug" | "warn" | null {
  if (globals.verbose) return "debug";
  return globals.quiet ? "warn" : null;
}

/** How to speak before the command line is understood: most likely about a mistake in it. */
export function earlyGlobals(argv: readonly string[]): Globals {
  const given = argv.map((word, index) =>
    argv[index - 1] === "--log-format" ? `--log-format=${word}` : word,
  );
  const format = given.findLast((word) => /^--log-format=(pretty|json)$/.test(word))?.split("=")[1];
  return {
    config: undefined,
    company: undefined,
    json: argv.includes("--json"),
    quiet: false,
    verbose: argv.includes("-v") || argv.includes("--verbose"),
    color: !argv.includes("--no-color"),
    logFormat: globalOptions.logFormat.read(format),
  };
}

/** Tells an error on stderr, a line for each thing that is wrong; with --json also as the promised document. */
export async function printFailure({ log, output, redaction, json }: Console, error: unknown): Promise<void> {
  const { kind, message, hint, requestId, bug } = failureOf(error);
  const lines = bug ? [`something unexpected happened: ${message}`] : message.split("\n");
  for (const [index, line] of lines.entries()) {
    const more = index === lines.length - 1 ? { hint: hint ?? undefined } : {};
    log.error(line, { kind, request_id: requestId ?? undefined, ...more });
  }
  log.debug("the error in full", { error });
  if (!json || output.used) return;
  const redacted = (text: string | null) => (text === null ? null : redaction.apply(text));
  await output.json({ error: { kind, message: redacted(message), hint: redacted(hint) } });
}
