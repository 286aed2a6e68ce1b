import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { HttpTransport } from "../../http/http-transport.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { Tally } from "../../sync/context/tally.ts";
import { notBegun, type RunRequest } from "./company-run.ts";
import type { Turns } from "./run-semaphore.ts";

/** A run, and what drives it. */
export interface RunUnderWay {
  readonly asked: RunRequest;
  readonly mode: "full" | "incremental";
  readonly startedMs: number;
  readonly tally: Tally;
  readonly transport: HttpTransport;
}

export interface EndedRun {
  readonly outcome: string;
  readonly startedMs: number;
  readonly finishedMs: number;
}

export interface RunQueueParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Shared by all companies: each gets its turn. */
  readonly turns: Turns;
  /** No run begins any more, and the one under way ends. */
  readonly closed: AbortSignal;
  readonly connect: (asked: RunRequest) => HttpTransport;
  readonly perform: (run: RunUnderWay) => Promise<CompanyReport>;
  /** Told when the run has ended and before the next one begins; its numbers are no longer the desk's. */
  readonly onEnd: (run: RunUnderWay, ended: EndedRun) => void;
  /** What is to be done after each run, in this order. What fails is told and stops nothing. */
  readonly afterRun: (report: CompanyReport) => Promise<void>;
}

/** The runs of one company: one at a time, first come, first served. */
export class RunQueue {
  private readonly parts: RunQueueParts;
  private tail: Promise<unknown> = Promise.resolve();
  /** The run under way. */
  current: RunUnderWay | null = null;

  constructor(parts: RunQueueParts) {
    this.parts = parts;
  }

  /** Null: the desk closed first, or `isNeeded` said no when the run's turn came. */
  run(asked: RunRequest, why: string, isNeeded: () => boolean = () => true): Promise<CompanyReport | null> {
    const ended = this.tail.then(() => (isNeeded() ? this.perform(asked, why) : null));
    this.tail = ended.then(
      (report) => (report ? this.after(report) : undefined),
      () => undefined,
    );
    return ended;
  }

  /** Every run that was asked for has ended. */
  async idle(): Promise<void> {
    await this.tail;
  }

  private async perform(asked: RunRequest, why: string): Promise<CompanyReport | null> {
    const { clock, log, turns, closed } = this.parts;
    const leave = await turns.take(closed);
    if (!leave) return null;
    const startedMs = clock.nowMs();
    try {
      const transport = this.parts.connect(asked);
      const mode = asked.full ? "full" : "incremental";
      const run = { asked, mode, startedMs, tally: new Tally(), transport } as const;
      this.current = run;
      log.info("a run begins", { why, mode });
      const report = await this.guarded(run);
      await transport.close();
      const { outcome, requests } = report;
      this.current = null;
      this.parts.onEnd(run, { outcome, startedMs, finishedMs: clock.nowMs() });
      log.info("a run ended", { why, outcome, requests: requests.total, error: report.error?.message });
      return report;
    } finally {
      this.current = null;
      leave();
    }
  }

  /** A bug in one company's run is told, and is nobody else's. */
  private async guarded(run: RunUnderWay): Promise<CompanyReport> {
    try {
      return await this.parts.perform(run);
    } catch (error) {
      const startedAt = isoTime(run.startedMs);
      this.parts.log.error("a run failed", { error: messageOf(error) });
      return notBegun(this.parts.clock, startedAt, error);
    }
  }

  private async after(report: CompanyReport): Promise<void> {
    try {
      await this.parts.afterRun(report);
    } catch (error) {
      this.parts.log.error("what follows a run failed", { error: messageOf(error) });
    }
  }
}
