import { messageOf } from "../../base/errors.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandContext } from "../program/command.ts";
import { runOwn } from "../program/own-process.ts";

interface Followed {
  readonly config: Config;
  readonly company: Pick<CompanyConfig, "name">;
}

/**
 * What the daemon does after each run and when a pattern in `schedule.publish` is due, in a process of its own: its
 * memory and processor time are not the receiver's. Guarantee: never rejects; failures are logged.
 */
export function followUps(
  { globals, env, log, signal }: Pick<CommandContext, "env" | "globals" | "log" | "signal">,
  configPath: string,
) {
  const perform = async (command: string, company: string) => {
    const args = [command, "--company", company, "--config", configPath, "--log-format", globals.logFormat];
    if (globals.quiet) args.push("--quiet");
    try {
      const code = await runOwn(args, env, signal);
      if (code !== 0 && !signal.aborted)
        log.warn(`${company}: ${command} did not succeed`, { exit_code: code });
    } catch (error) {
      log.error(`${company}: ${command} could not be started`, { error: messageOf(error) });
    }
  };
  return {
    afterRun: async ({ config, company, report }: Followed & { readonly report: CompanyReport }) => {
      if (report.outcome !== "complete" && report.outcome !== "partial") return;
      const publishes = config.schedule.publish === "after_sync";
      if (publishes || config.exports.some(({ after }) => after === "sync"))
        await perform("after-run", company.name);
    },
    publish: ({ company }: Followed) => perform("publish", company.name),
  };
}
