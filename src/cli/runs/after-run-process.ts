import { messageOf } from "../../base/errors.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandContext } from "../program/command.ts";
import { runOwn } from "../program/own-process.ts";

interface Followed {
  readonly config: Config;
  readonly company: Pick<CompanyConfig, "name">;
}

type Context = Pick<CommandContext, "env" | "globals" | "log" | "signal">;

/**
 * What the daemon does after each run, in a process of its own: its memory and processor time are not the
 * receiver's. Guarantee: never rejects; failures are logged.
 */
export function afterRunInProcess(context: Context, configPath: string) {
  return async ({
    config,
    company,
    report,
  }: Followed & { readonly report: Pick<CompanyReport, "outcome"> }) => {
    const { outcome } = report;
    if (outcome !== "complete" && outcome !== "partial") return;
    const publishes = config.schedule.publish === "after_sync";
    if (!publishes && !config.exports.some(({ after }) => after === "sync")) return;
    await runCommand(context, configPath, "after-run", company.name);
  };
}

/** What the daemon does when a pattern in `schedule.publish` is due. Guarantee: never rejects; failures are logged. */
export function publishInProcess(context: Context, configPath: string) {
  return ({ company }: Followed) => runCommand(context, configPath, "publish", company.name);
}

async function runCommand(context: Context, path: string, command: string, company: string): Promise<void> {
  const { globals, env, log, signal } = context;
  const args = [command, "--company", company, "--config", path, "--log-format", globals.logFormat];
  if (globals.quiet) args.push("--quiet");
  try {
    const code = await runOwn(args, env, signal);
    if (code !== 0 && !signal.aborted)
      log.warn(`${company}: ${command} did not succeed`, { exit_code: code });
  } catch (error) {
    log.error(`${company}: ${command} could not be started`, { error: messageOf(error) });
  }
}
