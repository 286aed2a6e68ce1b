import { formatCount } from "../../base/units.ts";
import type { RunContext } from "../context/run-context.ts";
import type { ScrubReport } from "../context/run-report.ts";
import type { Tally } from "../context/tally.ts";
import { queueScrub, withdrawScrub } from "../plan/read-reasons.ts";
import {
  readRecent,
  readScrubChoice,
  readScrubPlan,
  useScrubDay,
  type ParentsPerRun,
  type ScrubQuestion,
} from "../plan/scrub-facts.ts";

/** How a run scrubs. */
export interface ScrubOptions extends Pick<ScrubQuestion, "settings" | "windowMs" | "isCovered"> {
  /** Requests in a window, as the service grants them now. */
  readonly limit: () => number;
  /** Ends the scrub alone: another run waits that has a scrub of its own. */
  readonly closed: AbortSignal;
}

/** The second phase of a run: when everything listed is in, what was read longest ago is read again. */
export class ScrubPhase {
  /** How many reads were chosen. */
  readonly planned: number;
  private readonly run: RunContext;
  private readonly total: number;
  private readonly changedBefore: number;

  /** Chooses by the plan and queues, in one transaction. */
  constructor(run: RunContext, options: ScrubOptions, parentsPerRun: ParentsPerRun) {
    const { settings, windowMs, isCovered } = options;
    const { mirror, clock, resources } = run;
    const nowMs = clock.nowMs();
    const scope = { manifest: mirror.manifest.resources, resources, parentsPerRun };
    const question = { settings, windowMs, isCovered, limit: options.limit(), nowMs, ...scope };
    this.run = run;
    this.changedBefore = changedIn(run.tally);
    const { plan, queued } = mirror.apply(() => {
      const recent = readRecent(mirror.db, question);
      const today = readScrubPlan(mirror.db, question, recent.length);
      const chosen = readScrubChoice(mirror.db, today, recent, nowMs);
      const added = chosen.filter((one) => queueScrub(run, one)).length;
      if (added > 0) useScrubDay(mirror.meta, today.day, added);
      return { plan: today.plan, queued: added };
    });
    this.total = plan.total;
    this.planned = queued;
    if (queued > 0) run.tally.scrubPlanned = queued;
  }

  /** Logs what follows, before anything is read. */
  announce(): void {
    const count = `${formatCount(this.planned)} of ${formatCount(this.total)}`;
    this.run.log.info(`everything listed is in; reading ${count} again for what lists do not show`);
  }

  /** Takes back what was not read, and says what the rest found. */
  end(): ScrubReport {
    const { run, total, planned } = this;
    const left = run.mirror.apply(() => withdrawScrub(run));
    return { total, planned, read: planned - left, changed: changedIn(run.tally) - this.changedBefore, left };
  }
}

function changedIn({ resources }: Tally): number {
  return [...resources.values()].reduce(
    (sum, { inserted, updated, deleted }) => sum + inserted + updated + deleted,
    0,
  );
}
