import { isoTime } from "../../../base/clock.ts";
import { messageOf, MirrorError } from "../../../base/errors.ts";
import { createRedactor } from "../../../base/secret.ts";
import { chosenCompanies, secretTexts } from "../../../config/companies.ts";
import type { Config } from "../../../config/config.ts";
import { createAlerters } from "../../../host/incident-watch.ts";
import type { Alert } from "../../../status/alerts/incidents.ts";
import { backoffMs, retries } from "../../../retry/retry-limits.ts";
import { alertTargets, type AlertTarget } from "../../../status/alerts/targets.ts";
import { readViewAfterRun } from "../../../status/company-view.ts";
import type { RunSummary } from "../../../sync/context/run-summary.ts";
import { isDaemonThere, companyScopes } from "../../mirror/company-scope.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";

export const alertsTestCommand: CommandRun<"alerts test"> = async (context, { config }) => {
  const { clock, random, signal, globals } = context;
  if (config.alerts.length === 0)
    throw new MirrorError("config", "the config has no alerts", {
      hint: "docs/monitoring.md shows two: mail by a command, and a chat by its webhook.",
    });
  // Refuses a name that the config does not have, which the targets would take for a company.
  chosenCompanies(config, globals.company);
  const redact = createRedactor(secretTexts(config));
  const alert: Alert = {
    id: `${random.uuid()}-test`,
    event: "test",
    kind: "test",
    subject: "test",
    company: globals.company ?? null,
    message: "this is a test: nothing is wrong",
    began_at: isoTime(clock.nowMs()),
    ended_at: null,
  };
  const send = async ({ key, when, send: attempt }: AlertTarget) => {
    const error = await attempt(alert, signal).then(
      () => null,
      (reason: unknown) => redact(messageOf(reason)),
    );
    return { target: key, when, ok: error === null, error };
  };
  const targets = await Promise.all(alertTargets(config, context).map(send));
  const lines = targets.map(
    ({ target, ok, error }) => `${ok ? "ok  " : "fail"}  ${target}: ${error ?? "the test alert was taken"}`,
  );
  const isTaken = targets.every(({ ok }) => ok);
  await context.print({ ok: isTaken, targets }, lines);
  return isTaken ? "complete" : "failed";
};

/** For all alerts of a `sync` together; what is left is sent by the next one. */
const timeLimitMs = 60_000;

/**
 * Sends the alerts that follow from these runs. A company whose mirror a daemon holds is the daemon's. Never rejects:
 * what cannot be sent is logged.
 */
export async function sendAlerts(
  context: CommandContext,
  config: Config,
  summaries: ReadonlyMap<string, RunSummary>,
): Promise<void> {
  if (config.alerts.length === 0) return;
  const { clock, log, signal } = context;
  try {
    const views = companyScopes(context, config).flatMap((scope) => {
      const summary = summaries.get(scope.company.name);
      if (!summary || isDaemonThere(scope)) return [];
      return [readViewAfterRun(scope, summary, clock.nowMs())];
    });
    if (views.length === 0) return;
    const alerters = createAlerters(context, config);
    alerters.update(views);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]);
    let failed = await alerters.deliver(limit, true);
    const { attempts } = retries.alertAfterSync;
    for (let attempt = 1; failed > 0 && attempt < attempts && !limit.aborted; attempt++) {
      await clock.sleep(backoffMs(attempt, retries.alertAfterSync), limit);
      failed = await alerters.deliver(limit, true);
    }
    if (failed > 0) log.error("alerts were not delivered: the next run tries again", { targets: failed });
  } catch (error) {
    log.error("alerts were not sent", { error: messageOf(error) });
  }
}
