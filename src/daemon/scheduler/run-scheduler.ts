import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { followSchedule } from "./run-on-schedule.ts";
import type { CronSchedule } from "./cron-schedule.ts";
import type { Mirror } from "../../state/mirror.ts";
import { mayHaveLost } from "../../webhook/delivery-gap/delivery-gap.ts";
import type { Span } from "../../state/uptime-log.ts";
import { lastWholeRun } from "./run-history.ts";
import type { RunRequest } from "../runs/company-run.ts";
import type { RunQueue } from "../runs/run-queue.ts";
import { createErrorGuard } from "../../store/transient-errors.ts";

export interface RunSchedulerParts {
  readonly mirror: Mirror;
  readonly desk: Pick<RunQueue, "run">;
  /** What a run of our own asks for. */
  readonly asked: RunRequest;
  /** Null: no run by the clock. */
  readonly slots: CronSchedule | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly closed: AbortSignal;
  /** Asking has a chance. */
  readonly isServiceThere: () => boolean;
}

/** Why a run is owed at once; null: none is. Pure. */
export function reasonForRun(
  known: { readonly receives: boolean; readonly spans: readonly Span[]; readonly seesFromMs: number | null },
  nowMs: number,
): string | null {
  if (known.seesFromMs === null) return "nothing was ever read whole";
  if (!known.receives) return null;
  const firstMs = known.spans[0]?.startedMs ?? nowMs;
  if (firstMs > known.seesFromMs) return "nothing was read whole since deliveries were first received";
  const lost = mayHaveLost({ spans: known.spans, sinceMs: known.seesFromMs, nowMs });
  return lost ? "events may have been lost while nobody received them" : null;
}

/** The runs that are made without being asked for. */
export class RunScheduler {
  private readonly parts: RunSchedulerParts;
  private readonly names: readonly string[];
  private readonly patiently: (step: () => void) => boolean;

  constructor(parts: RunSchedulerParts) {
    this.parts = parts;
    this.patiently = createErrorGuard(parts.clock, parts.log);
    this.names = parts.asked.resources.map(({ name }) => name);
  }

  /** Is a run owed at once? Asked before the life's own span begins. */
  reasonNow(receives: boolean, spans: readonly Span[]): string | null {
    const { mirror, clock } = this.parts;
    const seesFromMs = lastWholeRun(mirror.db, this.names)?.seesFromMs ?? null;
    return reasonForRun({ receives, spans, seesFromMs }, clock.nowMs());
  }

  /** Until the end: first what is owed, then by the clock. */
  async follow(reason: string | null): Promise<void> {
    const { slots, clock, random, closed } = this.parts;
    if (reason !== null) await this.makeWhole(clock.nowMs(), reason);
    if (slots === null || closed.aborted) return;
    await followSchedule({
      slots,
      clock,
      random,
      signal: closed,
      taken: () => this.taken(),
      run: async (slotMs) => {
        await this.makeWhole(slotMs, "schedule");
        if (!closed.aborted) this.take(slotMs);
      },
    });
  }

  /** Runs until one that began after the moment was whole. */
  async makeWhole(sinceMs: number, why: string): Promise<void> {
    const { clock, closed, desk, asked, log } = this.parts;
    log.info("a run is due", { why });
    for (let failures = 0; !closed.aborted; failures++) {
      if (failures > 0) await clock.sleep(retryDelayMs(failures), closed);
      while (!this.parts.isServiceThere() && !closed.aborted) await clock.sleep(lookEveryMs, closed);
      if (closed.aborted || !this.isOwed(sinceMs)) return;
      const report = await desk.run(asked, why, () => this.isOwed(sinceMs));
      if (report === null || report.outcome === "complete" || report.outcome === "partial") return;
    }
  }

  private isOwed(sinceMs: number): boolean {
    const whole = lastWholeRun(this.parts.mirror.db, this.names);
    return whole === null || whole.startedMs < sinceMs || whole.startedMs > this.parts.clock.nowMs();
  }

  private taken() {
    const { mirror } = this.parts;
    const noted = mirror.meta.get(metaKey) as { readonly slotMs: number } | null;
    const wholeRunMs = lastWholeRun(mirror.db, this.names)?.startedMs ?? null;
    return { slotMs: noted?.slotMs ?? null, wholeRunMs };
  }

  /** One that could not be noted is known by its run. */
  private take(slotMs: number): void {
    const { mirror } = this.parts;
    this.patiently(() => mirror.apply(() => mirror.meta.set(metaKey, { slotMs })));
  }
}

const metaKey = "schedule";
const lookEveryMs = 200;

/** A minute after the first failure, half an hour at most. */
export function retryDelayMs(failures: number): number {
  return Math.min(60_000 * 2 ** (failures - 1), 30 * 60_000);
}
