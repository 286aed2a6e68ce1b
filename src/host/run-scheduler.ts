import { backoffMs, retries } from "../retry/retry-limits.ts";
import { Runs } from "../state/runs.ts";
import type { Span } from "../state/uptime-log.ts";
import { createErrorGuard } from "../store/transient-errors.ts";
import { mayHaveLost, type RetryDelay } from "../webhook/delivery-gap/delivery-gap.ts";
import { usualRun } from "../runs/run-queue.ts";
import type { OpenCompany } from "./host-context.ts";
import { parseCronSchedule, runSchedule, type CronSchedule } from "../config/cron-schedule.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import { lastWholeRun, type WholeRun } from "../status/event-status.ts";
import type { Random } from "../base/random.ts";

/**
 * Pure: why a run is needed at once; null: none is.
 *
 * @param receives can deliveries be verified?
 * @param spans when deliveries were received
 * @param seesFromMs of the last complete run; null: there was none
 */
export function reasonForRun(
  receives: boolean,
  spans: readonly Span[],
  seesFromMs: number | null,
  nowMs: number,
  delays?: readonly RetryDelay[],
): string | null {
  if (seesFromMs === null) return "no run has read everything yet";
  if (!receives) return null;
  const firstMs = spans[0]?.startedMs ?? nowMs;
  if (firstMs > seesFromMs) return "no run has read everything since deliveries were first received";
  const lost = mayHaveLost(spans, seesFromMs, nowMs, delays);
  return lost ? "events may have been lost while no deliveries were received" : null;
}

/** After that long without the service, its work is looked for every `lookAgainMs` only. */
const awayMs = 120_000;
const lookAgainMs = 300_000;

/**
 * Pure: when a company has something to do next: work of the service, or a report and changes, which ask nothing of it.
 * What waits for the service is due now, until that was away for a while: a company whose token was refused would keep
 * its node from others for ever. Epoch milliseconds; null: nothing is known.
 */
export function nextWorkMs(
  dueMs: readonly (number | null)[],
  ownMs: readonly (number | null)[],
  { state, sinceMs }: Pick<CompanyStatusView["service"], "state" | "sinceMs">,
  nowMs: number,
): number | null {
  const isAway = state !== "working" && state !== "starting" && nowMs - sinceMs > awayMs;
  const workMs = firstOf(dueMs);
  return firstOf([workMs !== null && isAway ? Math.max(workMs, nowMs + lookAgainMs) : workMs, ...ownMs]);
}

function firstOf(timesMs: readonly (number | null)[]): number | null {
  const known = timesMs.filter((atMs) => atMs !== null);
  return known.length === 0 ? null : Math.min(...known);
}

const slotKeys = { runs: "schedule", publish: "publish_schedule", backup: "backup_schedule" } as const;

const serviceCheckMs = 200;
/** For that long a quick run that was missed waits for the first answer of the service. */
const firstAnswerMs = 15_000;

/**
 * Makes the runs that nobody asks for: those needed after a start or a delivery gap, and those of the schedule.
 *
 * Guarantee: a scheduled run is repeated until one is complete; a slot is run once.
 * Source of truth: the runs in the mirror, and the last slot in `_meta`.
 * Worst outcome of a crash: a run is made again.
 */
export class RunScheduler {
  private readonly company: OpenCompany;
  private readonly isServiceThere: () => boolean;
  private readonly names: readonly string[];
  /** Runs that are to be repeated until they are whole: when each goes on, epoch ms. */
  private readonly pending = new Set<{ atMs: number }>();
  private readonly followed: { readonly work: ScheduledWork; isRunning: boolean }[] = [];
  private readonly guard: ReturnType<typeof createErrorGuard>;

  constructor(company: OpenCompany, isServiceThere: () => boolean) {
    const { context, settings } = company;
    this.company = company;
    this.isServiceThere = isServiceThere;
    this.guard = createErrorGuard(context.clock, context.log);
    this.names = settings.resources.map(({ name }) => name);
  }

  /** Why a run is needed at once; null: none is. To be asked before this process's own span begins. */
  reasonNow(receives: boolean, spans: readonly Span[]): string | null {
    const seesFromMs = this.lastRun()?.seesFromMs ?? null;
    const delays = this.company.mirror.declaration.webhooks?.retryDelays;
    return reasonForRun(receives, spans, seesFromMs, this.company.context.clock.nowMs(), delays);
  }

  /** When there is something to do next, epoch ms; null: nothing is known. What waits for the service is due now. */
  nextMs(nowMs: number): number | null {
    const pending = [...this.pending].map(({ atMs }) => atMs);
    const slots = this.followed.map(({ work: { schedule, done }, isRunning }) => {
      const slotMs = schedule.before(nowMs);
      // A repeated run is pending. For a repeated backup no node holds the company.
      const isOpen = !isRunning && slotMs !== null && isDue(slotMs, done(), nowMs);
      return isOpen ? nowMs : schedule.after(nowMs);
    });
    return firstOf([...slots, ...pending]);
  }

  /** Makes the run that is needed at once, then runs by the schedule, until `closed`. */
  async follow(reason: string | null): Promise<void> {
    const { settings, context, closed } = this.company;
    const schedule = runSchedule(settings.config.schedule);
    if (reason !== null) await this.runUntilWhole(context.clock.nowMs(), reason);
    if (schedule === null || closed.aborted) return;
    await this.onSchedule(schedule, slotKeys.runs, (slotMs) => this.runUntilWhole(slotMs, "schedule"));
  }

  /**
   * Makes quick runs by `schedule.quick`, until `closed`; a scrub under way ends for them. A slot is left out while a
   * run reads what lists show, and none is made up for: the next one shows the same.
   */
  async followQuick(): Promise<void> {
    const { context, closed, runQueue, settings, hooks } = this.company;
    const { config, resources } = settings;
    const { quick, timezone } = config.schedule;
    if (quick === null) return;
    // A company that is claimed for one that was missed gets it.
    let slotMs = hooks ? await this.lastRunStartMs() : context.clock.nowMs();
    const run = async (dueMs: number) => {
      slotMs = dueMs;
      if (runQueue.isListing || !this.isServiceThere()) return;
      await runQueue.run({ resources, ...usualRun, quick: true, closed }, "quick schedule");
    };
    const done = () => ({ slotMs, wholeRunMs: null });
    await this.keepTo({ schedule: parseCronSchedule(quick, timezone), done, run });
  }

  /** When the last run began, of whatever mode; given when the service answers, or did not for a while. */
  private async lastRunStartMs(): Promise<number> {
    const { context, closed, mirror } = this.company;
    const { clock } = context;
    const untilMs = clock.monotonicMs() + firstAnswerMs;
    while (!this.isServiceThere() && !closed.aborted && clock.monotonicMs() < untilMs)
      await clock.sleep(serviceCheckMs, closed);
    const [last] = new Runs(mirror.db).latest(1);
    return last ? Date.parse(last.startedAt) : clock.nowMs();
  }

  /** Publishes by `schedule.publish`, if it is a pattern of its own, until `closed`. `publish` never rejects. */
  async followPublish(publish: () => Promise<void>): Promise<void> {
    const { publish: pattern, timezone } = this.company.settings.config.schedule;
    if (pattern === null || pattern === "after_sync") return;
    await this.onSchedule(parseCronSchedule(pattern, timezone), slotKeys.publish, publish);
  }

  /**
   * Makes backups by `backup.schedule`, until `closed`. One that fails is tried again until the next slot. A mirror
   * that was not read whole since it was begun or restored takes the place of no earlier backup.
   *
   * @param make gives whether it succeeded; never rejects
   */
  async followBackup(make: () => Promise<boolean>): Promise<void> {
    const { context, closed, settings } = this.company;
    const { backup, schedule } = settings.config;
    if (backup.to === null || backup.schedule === null) return;
    const { clock } = context;
    const slots = parseCronSchedule(backup.schedule, schedule.timezone);
    await this.onSchedule(slots, slotKeys.backup, async (slotMs) => {
      const endMs = slots.after(slotMs) ?? Infinity;
      for (let failures = 1; this.lastRun() !== null && !(await make()); failures++) {
        const leftMs = endMs - clock.nowMs();
        if (closed.aborted || leftMs <= 0) return;
        await clock.sleep(Math.min(leftMs, backoffMs(failures, retries.scheduledRun)), closed);
      }
    });
  }

  /** Runs until a run is complete whose lists were all begun after the moment. */
  async runUntilWhole(sinceMs: number, why: string): Promise<void> {
    const { context, closed, runQueue, settings } = this.company;
    const { clock, log } = context;
    const request = { resources: settings.resources, ...usualRun, scrub: true, closed };
    log.info("a run is due", { why });
    const pending = { atMs: clock.nowMs() };
    this.pending.add(pending);
    try {
      for (let failures = 1; !closed.aborted; failures++) {
        while (!this.isServiceThere() && !closed.aborted) await clock.sleep(serviceCheckMs, closed);
        if (closed.aborted || !this.isNeeded(sinceMs)) return;
        const report = await runQueue.run(request, why, () => this.isNeeded(sinceMs));
        if (closed.aborted || report === null || ["complete", "partial"].includes(report.outcome)) return;
        const pauseMs = backoffMs(failures, retries.scheduledRun);
        pending.atMs = clock.nowMs() + pauseMs;
        log.info("the run is made again after a pause", { why, in_ms: pauseMs });
        await clock.sleep(pauseMs, closed);
      }
    } finally {
      this.pending.delete(pending);
    }
  }

  private onSchedule(schedule: CronSchedule, key: string, run: ScheduledWork["run"]): Promise<void> {
    const { mirror, closed } = this.company;
    const done = () => {
      const stored = mirror.meta.get(key) as { readonly slotMs: number } | null;
      const wholeRunMs = key === slotKeys.runs ? (this.lastRun()?.seesFromMs ?? null) : null;
      return { slotMs: stored?.slotMs ?? null, wholeRunMs };
    };
    const runSlot = async (slotMs: number) => {
      await run(slotMs);
      // A slot whose record cannot be written is known by its run, or run again.
      if (!closed.aborted) this.guard(() => mirror.apply(() => mirror.meta.set(key, { slotMs })));
    };
    return this.keepTo({ schedule, done, run: runSlot });
  }

  private keepTo(work: ScheduledWork): Promise<void> {
    const { context, closed } = this.company;
    const followed = { work, isRunning: false };
    this.followed.push(followed);
    const run = (slotMs: number) => {
      followed.isRunning = true;
      return work.run(slotMs).finally(() => (followed.isRunning = false));
    };
    return runOnSchedule({ ...work, run }, context, closed);
  }

  private isNeeded(sinceMs: number): boolean {
    const seesFromMs = this.lastRun()?.seesFromMs ?? null;
    return seesFromMs === null || seesFromMs < sinceMs || seesFromMs > this.company.context.clock.nowMs();
  }

  private lastRun(): WholeRun | null {
    return lastWholeRun(this.company.mirror.db, this.names);
  }
}

interface ScheduledWork {
  readonly schedule: CronSchedule;
  /** What was done so far; asked each time, because others make runs too. */
  readonly done: () => DoneRuns;
  /** Makes the run of a slot and records it, so that `done` gives it. Never rejects. */
  readonly run: (slotMs: number) => Promise<void>;
}

/** What is known of a schedule's past; null: nothing. Epoch milliseconds. */
interface DoneRuns {
  readonly slotMs: number | null;
  /** When the last complete run began, whoever made it: the first list of it, where it continues another. */
  readonly wholeRunMs: number | null;
}

/** The wall clock is read at least this often: it may be set, or the machine may sleep. */
const checkEveryMs = 60_000;

/** Pause after a run, so that one that left its slot due does not spin. */
const afterRunMs = 1_000;

/**
 * Runs each slot of a schedule once, never two at a time, and after a pause the last missed slot at once, until
 * `closed`.
 *
 * Guarantee: a slot that `done` knows is not run again.
 * Source of truth: `done`.
 * Worst outcome of a crash: the slot's run is made again.
 */
export async function runOnSchedule(
  work: ScheduledWork,
  { clock, random }: Pick<OpenCompany["context"], "clock" | "random">,
  closed: AbortSignal,
): Promise<void> {
  let checkedMs = clock.nowMs();
  let slot = slotAt(work, checkedMs, random);
  while (!closed.aborted) {
    const nowMs = clock.nowMs();
    if (nowMs < checkedMs || (slot.nextMs !== null && nowMs >= slot.nextMs))
      slot = slotAt(work, nowMs, random);
    checkedMs = nowMs;
    const dueMs = slot.slotMs !== null && isDue(slot.slotMs, work.done(), nowMs) ? slot.slotMs : null;
    if (dueMs !== null && nowMs >= slot.beginMs) {
      await work.run(dueMs);
      await clock.sleep(afterRunMs, closed);
      continue;
    }
    const nextMs = dueMs === null ? slot.nextMs : slot.beginMs;
    await clock.sleep(Math.max(1, Math.min(checkEveryMs, (nextMs ?? Infinity) - nowMs)), closed);
  }
}

/** A run begins so long after its slot at most, and by this share of the interval. */
const maxJitterMs = 60_000;
const jitterShare = 0.05;

/** The last slot and the next one; runs begin a random time later, so that not all clients ask in the same second. */
function slotAt({ schedule }: ScheduledWork, nowMs: number, random: Random) {
  const slotMs = schedule.before(nowMs);
  const nextMs = schedule.after(nowMs);
  const intervalMs = slotMs === null || nextMs === null ? 0 : nextMs - slotMs;
  const mostMs = Math.min(maxJitterMs, intervalMs * jitterShare);
  return { slotMs, beginMs: (slotMs ?? nowMs) + Math.floor(mostMs * random.next()), nextMs };
}

/**
 * Pure: must the run of this slot still be made? Of several missed slots only the last one counts. Times in the
 * future were recorded by a wrong clock and count for nothing.
 */
function isDue(slotMs: number, done: DoneRuns, nowMs: number): boolean {
  return [done.slotMs, done.wholeRunMs].every((atMs) => atMs === null || atMs > nowMs || atMs < slotMs);
}
