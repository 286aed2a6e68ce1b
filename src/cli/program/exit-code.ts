import { firstThrown, MirrorError, type ErrorKind } from "../../base/errors.ts";

/** Exit code of each outcome, from the least to the most urgent one. */
const outcomeCodes = {
  complete: 0,
  stopped: 5,
  partial: 3,
  difference: 1,
  failed: 1,
  interrupted: 130,
  unauthenticated: 4,
  identity: 4,
  locked: 11,
  database: 10,
} as const;

export type CommandOutcome = keyof typeof outcomeCodes;

/** `drained`: a command that works until stopped was stopped and has finished everything it had begun. */
export type CommandEnding =
  | CommandOutcome
  | "drained"
  /** Ends with the code of an error of this kind; the command has printed the error itself. */
  | { readonly kind: ErrorKind };

/** The most urgent outcome of several companies; `complete` for none. */
export function worstOutcome(outcomes: readonly CommandOutcome[]): CommandOutcome {
  const byUrgency = Object.keys(outcomeCodes) as CommandOutcome[];
  return byUrgency.findLast((outcome) => outcomes.includes(outcome)) ?? "complete";
}

/** Exit codes of errors that are no outcome; 1 for a kind that is named nowhere. */
const kindCodes: Readonly<Partial<Record<ErrorKind, number>>> = {
  ...outcomeCodes,
  usage: 2,
  config: 2,
  runtime: 10,
};

export type StopSignal = "SIGINT" | "SIGTERM";

const signalCodes: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** The exit code of an ending. After a signal, work that stopped early counts as interrupted; finished work does not. */
export function codeOfEnding(ending: CommandEnding, signal: StopSignal | null): number {
  if (typeof ending !== "string") return kindCodes[ending.kind] ?? 1;
  if (ending === "drained") return signal === "SIGINT" ? signalCodes.SIGINT : 0;
  const early = ending === "stopped" || ending === "interrupted";
  return early && signal ? signalCodes[signal] : outcomeCodes[ending];
}

/** The exit code of a thrown value: by its kind for a MirrorError, 10 for anything else. */
export function codeOfError(thrown: unknown, signal: StopSignal | null): number {
  const error = firstThrown(thrown);
  if (!(error instanceof MirrorError)) return 10;
  return error.kind === "stopped" && signal ? signalCodes[signal] : (kindCodes[error.kind] ?? 1);
}

export interface SignalSource {
  on(event: StopSignal | "SIGHUP", listener: () => void): unknown;
  off(event: StopSignal | "SIGHUP", listener: () => void): unknown;
}

/**
 * The only listener of SIGINT and SIGTERM. The first one aborts `signal`: stop at the next safe point. The second
 * one ends the process at once with `endNow`. That is safe: uncommitted work is rolled back. While `isPaging`, Ctrl-C is
 * meant for the pager: it would be left behind on the terminal.
 */
export function listenForSignals(
  source: SignalSource,
  onFirst: (signal: StopSignal) => void,
  endNow: (code: number) => void,
  isPaging: () => boolean,
) {
  const controller = new AbortController();
  let first: StopSignal | null = null;
  const onSignal = (name: StopSignal) => {
    if (first) return endNow(signalCodes[name]);
    first = name;
    onFirst(name);
    controller.abort();
  };
  const onInterrupt = () => (isPaging() ? undefined : onSignal("SIGINT"));
  const onTerminate = () => onSignal("SIGTERM");
  source.on("SIGINT", onInterrupt);
  source.on("SIGTERM", onTerminate);
  return {
    signal: controller.signal,
    received: () => first,
    dispose: () => {
      source.off("SIGINT", onInterrupt);
      source.off("SIGTERM", onTerminate);
    },
  };
}
