import { messageOf } from "../../base/errors.ts";
import { formatEffectiveConfig } from "../../config/companies.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import type { DaemonContext } from "../../daemon/daemon-context.ts";
import {
  backupStep,
  filesStep,
  readSteps,
  recordStep,
  reportStep,
  stepsAfterRun,
  type StepTimes,
} from "../../status/after-run-record.ts";
import type { CommandContext } from "../program/command.ts";
import { runOwn } from "../program/own-process.ts";

/**
 * Makes what follows runs, in a process of its own: its memory and processor time are not the receiver's. The daemon's
 * config goes to it through stdin, because the file may hold another one by now.
 */
export function createAfterRun({
  globals,
  env,
  log,
  signal,
  clock,
}: CommandContext): DaemonContext["afterRun"] {
  return async ({ config, company }, scope) => {
    const { name } = company;
    const steps = {
      all: stepsAfterRun(config),
      report: [reportStep],
      backup: [backupStep],
      files: [filesStep],
    }[scope];
    if (steps.length === 0) return null;
    const args = ["after-run", "--connector", config.connector, "--only", scope];
    args.push("--log-format", globals.logFormat);
    if (globals.quiet) args.push("--quiet");
    const startedMs = clock.nowMs();
    const input = formatEffectiveConfig(config, company);
    const problem = await runOwn({ args, env, input, signal }).then(
      (code) => (code === 0 ? null : `it ended with ${code === null ? "a signal" : `exit code ${code}`}`),
      (error: unknown) => `it could not be started: ${messageOf(error)}`,
    );
    if (problem === null || signal.aborted) return null;
    log.warn(`${name}: after-run did not succeed: ${problem}`);
    const times = { startedMs, endedMs: clock.nowMs() };
    return recordProblem(mirrorFiles(config, name).afterRun, steps, problem, times);
  };
}

/** Records what a process that was killed could not record itself. Gives the problem where there is no room for it. */
function recordProblem(
  file: string,
  steps: readonly string[],
  problem: string,
  times: StepTimes,
): string | null {
  try {
    const records = readSteps(file);
    const isRecorded = (step: string) => Date.parse(records[step]?.at ?? "") >= times.startedMs;
    const result = { outcome: "failed", error: problem, seq: null } as const;
    for (const step of steps) if (!isRecorded(step)) recordStep(file, step, result, times);
    return null;
  } catch {
    return problem;
  }
}
