import type { Clock } from "../../base/clock.ts";
import { Redactor } from "../../base/secret.ts";
import { createLogger, logFormat } from "../../log/log.ts";
import { canDraw, createScreen, wantsColour, type OutputStream } from "../../log/screen.ts";
import { failureOf } from "./failure-text.ts";
import type { Output } from "./output.ts";

export type Console = ReturnType<typeof createConsole>;

interface ConsoleOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
  readonly logFormat: "auto" | "pretty" | "json";
}

/** Everything one invocation prints to: lines on stderr, data on stdout; secrets are redacted in both. */
export function createConsole(
  parts: { stderr: OutputStream; env: Readonly<Record<string, string | undefined>>; clock: Clock },
  options: ConsoleOptions,
  output: Output,
) {
  const { stderr, env, clock } = parts;
  const format = logFormat(options.logFormat, stderr.isTTY === true);
  const colour = wantsColour(stderr, env, options.color);
  const screen = createScreen(stderr, format === "pretty" && !options.quiet && canDraw(stderr, env));
  const redaction = new Redactor();
  const write = (text: string) => screen.line(text);
  const level = levelOf(options) ?? "info";
  const log = createLogger({ write, format, level, colour, redaction, clock });
  return { screen, log, output, redaction, colour, json: options.json };
}

/** The log level that -v or -q ask for; null: the config decides. */
export function levelOf({ verbose, quiet }: Pick<ConsoleOptions, "verbose" | "quiet">) {
  if (verbose) return "debug";
  return quiet ? "warn" : null;
}

/**
 * Ends the drawing and prints an error on stderr, one line for each line of its message; with --json also as the promised document
 * on stdout, unless something was written there before.
 */
export async function printFailure(console: Console, error: unknown): Promise<void> {
  const { screen, log, output, redaction, json } = console;
  screen.close();
  const { kind, message, hint, requestId, bug } = failureOf(error);
  const lines = bug ? [`something unexpected happened: ${message}`] : message.split("\n");
  for (const [index, line] of lines.entries()) {
    const more = index === lines.length - 1 ? { hint: hint ?? undefined } : {};
    log.error(line, { kind, request_id: requestId ?? undefined, ...more });
  }
  log.debug("the error in full", { error });
  if (!json || output.used) return;
  const redacted = (text: string | null) => (text === null ? null : redaction.replace(text));
  await output.json({ error: { kind, message: redacted(message), hint: redacted(hint) } });
}
