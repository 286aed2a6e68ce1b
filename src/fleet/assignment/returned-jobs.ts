import type { Clock } from "../../base/clock.ts";
import { backoffMs } from "../../base/retry.ts";
import type { Job, JobEngine } from "../jobs/job-engine.ts";
import type { InboxTable } from "../postgres/tables/inbox-table.ts";
import type { AssignmentEnd } from "./assignment.ts";

/** What jobs are given back with. */
export interface ReturnedJobsParts {
  readonly engine: Pick<JobEngine, "complete" | "fail" | "send" | "sendLater">;
  readonly inbox: Pick<InboxTable, "heads">;
  readonly clock: Clock;
  /** Pause of a company after its first failure, ms; twice that after the second, and so on. */
  readonly failedMs: number;
}

/** The longest pause after failures in a row. */
const longestPauseMs = 30 * 60_000;

type ReleasedEnd = Extract<AssignmentEnd, { readonly outcome: "released" }>;

/**
 * What becomes of the jobs of a company that this node does not hold any more.
 *
 * Guarantee: where there is still something to do, a job says so.
 * Source of truth: none needed, as of `JobEngine`.
 * Worst outcome of a crash: the jobs are given to another node when they are not touched any more.
 */
export class ReturnedJobs {
  private readonly parts: ReturnedJobsParts;

  constructor(parts: ReturnedJobsParts) {
    this.parts = parts;
  }

  /** Gives a job back that could not be done, for a pause that grows. */
  async fail(job: Job, why: string): Promise<void> {
    const { engine, failedMs } = this.parts;
    const pauseMs = backoffMs(job.retryCount + 1, { baseMs: failedMs, maxMs: longestPauseMs });
    await engine.fail(job, why, pauseMs);
  }

  /** Gives the jobs of an assignment back, and leaves one for what there is still to do. */
  async giveBack(company: string, jobs: readonly Job[], end: AssignmentEnd): Promise<void> {
    const { engine, failedMs } = this.parts;
    if (end.outcome === "failed") {
      for (const job of jobs) await this.fail(job, end.why);
      if (jobs.length === 0) await engine.sendLater(company, failedMs);
      return;
    }
    await engine.complete(jobs);
    // Whoever took it over looks at it already; where Postgres was away, nobody does.
    if (end.outcome === "lost") await engine.send("run", company);
    else await this.leaveJobs(company, end);
  }

  private async leaveJobs(company: string, { nextWorkMs, inboxSeq }: ReleasedEnd): Promise<void> {
    const { engine, inbox, clock } = this.parts;
    if (nextWorkMs !== null) await engine.sendLater(company, nextWorkMs - clock.nowMs());
    // A delivery that came after the last look found the job of these events taken.
    const [head] = await inbox.heads([company]);
    if (head && head.seq > inboxSeq) await engine.send("events", company);
  }
}
