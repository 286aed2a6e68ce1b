import type { Clock } from "../../base/clock.ts";
import { codeOf, firstThrown, MirrorError, messageOf, systemProblem } from "../../base/errors.ts";
import { Redactor } from "../../base/secret.ts";
import { ServiceError } from "../../connector/service-errors.ts";
import { createLogger, logFormat } from "../../log/log.ts";
import { canDraw, createScreen, wantsColour, type OutputStream } from "../../log/screen.ts";
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
  parts: { stderr: OutputStream; env: NodeJS.ProcessEnv; clock: Clock },
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

/** Describes any thrown value, as printed on stderr and for `--json`. Errors of the operating system are no bugs. */
export function failureOf(thrown: unknown) {
  const error = firstThrown(thrown);
  const message = messageOf(error);
  const requestId = error instanceof ServiceError ? error.requestId : null;
  if (error instanceof MirrorError)
    return { kind: error.kind as string, message, hint: error.hint ?? null, requestId, bug: false };
  const isOfSystem = error instanceof Error && "syscall" in error && codeOf(error) !== "";
  if (!isOfSystem) return { kind: "bug", message, hint: bugHint, requestId, bug: true };
  const hint = systemProblem(error)?.hint ?? null;
  return { kind: "system", message: systemText(error), hint, requestId, bug: false };
}

const bugHint = "this is a bug in fintoro-mirror: please report it with what the same command prints with -v";

const attempts: Readonly<Record<string, string>> = {
  mkdir: "make the folder",
  open: "open",
  read: "read",
  write: "write",
  rename: "move",
  unlink: "remove",
  scandir: "list the folder",
};

/** `cannot make the folder /x/y: no permission`; the system's own text where there is more to say than that. */
function systemText(error: Error): string {
  // Node's errors of the system have these fields.
  const { syscall = "", path, message } = error as NodeJS.ErrnoException;
  const [attempt, reason] = [attempts[syscall], systemProblem(error)?.reason];
  if (path === undefined || attempt === undefined || reason === undefined) return message;
  return `cannot ${attempt} ${path}: ${reason}`;
}
