import { hourMs } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { formatDuration } from "../../base/units.ts";
import { formatEffectiveConfig } from "../../config/companies.ts";
import type { HostProcess } from "../../host/host-context.ts";
import type { ConnectionCounts } from "../../server/connections.ts";
import { readSteps, recordStep, stepsAfterRun } from "../../status/after-run-record.ts";
import type { CommandContext } from "../program/command.ts";
import { runOwn } from "../program/own-process.ts";

/** What `serve` and `worker` hold companies with. */
export function hostProcess(context: CommandContext, connections: ConnectionCounts): HostProcess {
  const { env, clock, random, log, version, onSecrets } = context;
  return { env, clock, random, log, version, onSecrets, connections, afterRun: createAfterRun(context) };
}

/** Far longer than any of it takes. One that hangs, on a dead network file system, keeps all companies waiting. */
const longestMs = 6 * hourMs;

/**
 * Makes what follows runs, in a process of its own: its memory and processor time are not the receiver's. The daemon's
 * config goes to it through stdin, because the file may hold another one by now. It is ended after `mostMs`.
 */
export function createAfterRun(
  { globals, env, log, signal, clock }: Pick<CommandContext, "globals" | "env" | "log" | "signal" | "clock">,
  mostMs = longestMs,
): HostProcess["afterRun"] {
  return async ({ config, company, files }, scope) => {
    const { name } = company;
    const steps = scope === "all" ? stepsAfterRun(config) : [scope];
    if (steps.length === 0) return null;
    const args = ["after-run", "--connector", config.connector, "--only", scope];
    args.push("--log-format", globals.logFormat);
    if (globals.quiet) args.push("--quiet");
    const startedMs = clock.nowMs();
    const input = formatEffectiveConfig(config, company);
    const limit = new AbortController();
    // Cleared, unlike a signal with a timeout: that one stays for hours after each run.
    const timer = setTimeout(() => limit.abort(), mostMs);
    const problem = await runOwn(args, env, input, AbortSignal.any([signal, limit.signal]))
      .then(
        (code) => endingOf(code, limit.signal.aborted ? mostMs : null),
        (error: unknown) => `it could not be started: ${messageOf(error)}`,
      )
      .finally(() => clearTimeout(timer));
    if (problem === null || signal.aborted) return null;
    log.warn(`${name}: after-run did not succeed: ${problem}`);
    return recordProblem(files.afterRun, steps, problem, startedMs, clock.nowMs());
  };
}

/** Null: it made everything. `limitMs`: it was ended after that; null: it ended by itself. */
function endingOf(code: number | null, limitMs: number | null): string | null {
  if (code === 0) return null;
  if (limitMs !== null) return `it was ended after ${formatDuration(limitMs)}`;
  return `it ended with ${code === null ? "a signal" : `exit code ${code}`}`;
}

/** Records what a process that was killed could not record itself. Gives the problem where there is no room for it. */
function recordProblem(
  file: string,
  steps: readonly string[],
  problem: string,
  startedMs: number,
  endedMs: number,
) {
  try {
    const records = readSteps(file);
    const isRecorded = (step: string) => Date.parse(records[step]?.at ?? "") >= startedMs;
    const result = { outcome: "failed", error: problem, seq: null } as const;
    for (const step of steps) if (!isRecorded(step)) recordStep(file, step, result, startedMs, endedMs);
    return null;
  } catch {
    return problem;
  }
}
