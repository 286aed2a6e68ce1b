import { freeBytesAt } from "../base/files/atomic-file.ts";
import { messageOf } from "../base/errors.ts";
import { createRedactor } from "../base/secret.ts";
import { Semaphore } from "../base/semaphore.ts";
import { secretTexts } from "../config/companies.ts";
import type { Config } from "../config/config.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import { Alerter, type AlertSending } from "../status/alerts/alerter.ts";
import type { AlertState, Condition } from "../status/alerts/incidents.ts";
import type { AlertTarget } from "../status/alerts/targets.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import { conditionsOf, spaceConditions } from "../status/conditions.ts";
import type { ProcessContext } from "../runs/process-context.ts";
import { readyLimits } from "./cron-schedule.ts";

export interface AlertContext extends Pick<ProcessContext, "clock" | "random" | "log"> {
  readonly targetsOf: (config: Config) => readonly AlertTarget[];
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
export class Alerters {
  private readonly context: AlertContext;
  private readonly config: Config;
  private readonly sending: AlertSending;
  private readonly byFile = new Map<string, Alerter>();

  constructor(context: AlertContext, config: Config) {
    const { clock, random, log } = context;
    this.context = context;
    this.config = config;
    const redact = createRedactor(secretTexts(config));
    this.sending = { clock, random, log, redact, targets: context.targetsOf(config) };
  }

  /** Takes in how the companies stand now. Never throws. */
  update(views: readonly CompanyStatusView[]): void {
    const nowMs = this.context.clock.nowMs();
    const limits = readyLimits(this.config.schedule, nowMs);
    const { freeBytes: free = freeBytesAt, watchesDisk = true } = this.context;
    if (watchesDisk) this.updateOne(null, () => spaceConditions(free(this.config.dataDir)));
    for (const view of views) this.updateOne(view.company, () => conditionsOf(view, nowMs, limits));
  }

  states(): AlertState[] {
    return [...this.byFile.values()].map(({ current }) => current);
  }

  /** Makes one attempt for each alert that is due. Never rejects. Gives the number of those that failed. */
  async deliver(signal: AbortSignal, force = false): Promise<number> {
    const each = [...this.byFile.values()].map(async (alerter) => {
      if (!alerter.isDue(force)) return 0;
      using place = await attemptPlaces.acquire(signal);
      return place ? await alerter.deliver(signal, force) : 0;
    });
    return (await Promise.all(each)).reduce((sum, failed) => sum + failed, 0);
  }

  /** @param company null: what concerns all companies */
  private updateOne(company: string | null, conditionsNow: () => readonly Condition[]): void {
    const { alerts, folderAlerts } = mirrorFiles(this.config, company ?? "");
    const file = company === null ? folderAlerts : alerts;
    try {
      const alerter = this.byFile.get(file) ?? new Alerter(this.sending, file, company);
      this.byFile.set(file, alerter);
      alerter.update(conditionsNow());
    } catch (error) {
      const facts = { error: messageOf(error), ...(company !== null && { company }) };
      this.context.log.warn("what is wrong cannot be judged for alerts", facts);
    }
  }
}

const lookEveryMs = 5_000;

/**
 * Looks at all companies until `closed`, and sends the alerts that follow. An alert on its way then is sent again. Never
 * rejects.
 */
export async function watchIncidents(
  context: AlertContext,
  configNow: () => Config,
  viewsNow: () => Promise<readonly CompanyStatusView[]>,
  closed: AbortSignal,
): Promise<void> {
  let current: Config | null = null;
  let alerters: Alerters | null = null;
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
        alerters = config.alerts.length > 0 ? new Alerters(context, config) : null;
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
