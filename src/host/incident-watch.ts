import { freeBytesAt } from "../base/files/atomic-file.ts";
import { messageOf } from "../base/errors.ts";
import { createRedactor } from "../base/secret.ts";
import { Semaphore } from "../base/semaphore.ts";
import { secretTexts } from "../config/companies.ts";
import type { Config } from "../config/config.ts";
import { mirrorFiles } from "../store/mirror-files.ts";
import { createAlerter, type AlertSending } from "../status/alerts/alerter.ts";
import type { AlertState, Condition } from "../status/alerts/incidents.ts";
import { alertTargets } from "../status/alerts/targets.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import { conditionsOf, spaceConditions } from "../status/conditions.ts";
import type { HostProcess } from "./host-context.ts";

export interface AlertContext extends Pick<
  HostProcess,
  "clock" | "random" | "log" | "version" | "env" | "onSecrets"
> {
  /** @default the disk's own */
  readonly freeBytes?: (folder: string) => number;
  /** Is a full disk an incident? @default true */
  readonly watchesDisk?: boolean;
  /** Of one company that one process after another has: notes elsewhere what was decided; false: nothing may be sent. */
  readonly note?: (state: AlertState) => Promise<boolean>;
}

/** Attempts of this process at a time, over all companies: a command is a process each. */
const attemptPlaces = new Semaphore(4);

/**
 * The alerters of all companies of a config, and of its data folder.
 *
 * Guarantee: a company whose status or file cannot be read keeps no other from its alerts.
 * Source of truth: the alerters' files.
 * Worst outcome of a crash: an alert is sent twice.
 */
export function createAlerters(context: AlertContext, config: Config) {
  const { clock, random, log } = context;
  const redact = createRedactor(secretTexts(config));
  const sending: AlertSending = { clock, random, log, redact, targets: alertTargets(config, context) };
  const byFile = new Map<string, ReturnType<typeof createAlerter>>();
  /** @param company null: what concerns all companies */
  const updateOne = (company: string | null, conditionsNow: () => readonly Condition[]) => {
    const { alerts, folderAlerts } = mirrorFiles(config, company ?? "");
    const file = company === null ? folderAlerts : alerts;
    try {
      const alerter = byFile.get(file) ?? createAlerter(sending, file, company);
      byFile.set(file, alerter);
      alerter.update(conditionsNow());
    } catch (error) {
      const facts = { error: messageOf(error), ...(company !== null && { company }) };
      log.warn("what is wrong cannot be judged for alerts", facts);
    }
  };
  return {
    /** Takes in how the companies stand now. Never throws. */
    update: (views: readonly CompanyStatusView[]) => {
      const nowMs = clock.nowMs();
      const { freeBytes: free = freeBytesAt, watchesDisk = true } = context;
      if (watchesDisk) updateOne(null, () => spaceConditions(free(config.dataDir)));
      for (const view of views) updateOne(view.company, () => conditionsOf(view, nowMs));
    },

    states: (): AlertState[] => [...byFile.values()].map((alerter) => alerter.current()),

    /** Makes one attempt for each alert that is due. Never rejects. Gives the number of those that failed. */
    deliver: async (signal: AbortSignal, force = false): Promise<number> => {
      const each = [...byFile.values()].map(async (alerter) => {
        if (!alerter.isDue(force)) return 0;
        using place = await attemptPlaces.acquire(signal);
        return place ? await alerter.deliver(signal, force) : 0;
      });
      return (await Promise.all(each)).reduce((sum, failed) => sum + failed, 0);
    },
  };
}

const lookEveryMs = 5_000;

/** Sends the alerts that follow, until `closed`; one that is on its way then is sent again. Never rejects. */
export async function watchIncidents(
  context: AlertContext,
  configNow: () => Config,
  viewsNow: () => Promise<readonly CompanyStatusView[]>,
  closed: AbortSignal,
): Promise<void> {
  let current: Config | null = null;
  let alerters: ReturnType<typeof createAlerters> | null = null;
  let delivering: Promise<void> = Promise.resolve();
  const isNoted = async () => {
    const [state] = alerters?.states() ?? [];
    return !context.note || !state || context.note(state);
  };
  try {
    for (; !closed.aborted; await context.clock.sleep(lookEveryMs, closed)) {
      const config = configNow();
      if (config !== current) {
        // What is on its way is recorded by those that sent it, before others read their files.
        await delivering;
        alerters = config.alerts.length > 0 ? createAlerters(context, config) : null;
        current = config;
      }
      if (!alerters) continue;
      alerters.update(await viewsNow());
      if (!(await isNoted())) continue;
      // Without their values, of which each would keep the one before.
      delivering = Promise.all([delivering, alerters.deliver(closed)]).then(() => undefined);
    }
  } catch (error) {
    context.log.error("no alerts are sent any more", { error: messageOf(error) });
  }
  await delivering;
  await isNoted();
}
