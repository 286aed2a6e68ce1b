import { isoTime } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Semaphore } from "../../base/semaphore.ts";
import type { HttpTransport } from "../../http/http-transport.ts";
import type { RequestLimits } from "../../rate-limit/rate-limiter.ts";
import type { CompanyStatusView } from "../../status/company-status.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { Tally } from "../../sync/context/tally.ts";
import { notBegun, type RunRequest } from "./company-run.ts";
import type { ProcessContext } from "./process-context.ts";

/** A run, and what drives it. */
export interface RunUnderWay {
  readonly request: RunRequest;
  readonly mode: "full" | "incremental";
  /** Epoch milliseconds. */
  readonly startedMs: number;
  readonly tally: Tally;
  readonly transport: HttpTransport;
  /** The run's time is over, or the queue is closed. */
  readonly closed: AbortSignal;
}

type EndedRun = NonNullable<CompanyStatusView["lastRun"]>;

/** What the run queue works with. */
export interface RunQueueParts {
  readonly context: Pick<ProcessContext, "clock" | "log">;
  /** Places among the runs of all companies. */
  readonly places: Semaphore;
  /** No run begins any more, and the one under way ends. */
  readonly closed: AbortSignal;
  readonly connect: (limits: RequestLimits) => HttpTransport;
  readonly perform: (run: RunUnderWay) => Promise<CompanyReport>;
  /** Called when a run has ended, before the next one begins; `current` is null by then. */
  readonly onEnd: (run: RunUnderWay, ended: EndedRun) => void;
  /** Called after each run; the next one waits for it. A rejection is logged. */
  readonly afterRun: (report: CompanyReport) => Promise<void>;
}

/**
 * The runs of one company: one at a time, in the order of their requests.
 *
 * Guarantee: a run that fails, or what follows it, stops no later run.
 * Source of truth: this process's memory; what a run has done is in the mirror.
 * Worst outcome of a crash: waiting runs are forgotten; the scheduler and the commands of others ask again.
 */
export class RunQueue {
  /** The run under way. */
  current: RunUnderWay | null = null;
  private readonly parts: RunQueueParts;
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: RunQueueParts) {
    this.parts = parts;
  }

  /** Null: the queue was closed first, or `isNeeded` said no when the run could begin. */
  run(request: RunRequest, why: string, isNeeded: () => boolean = () => true): Promise<CompanyReport | null> {
    const ended = this.last.then(() => (isNeeded() ? this.runWithPlace(request, why) : null));
    const following = ended.catch(() => null).then((report) => report && this.parts.afterRun(report));
    this.last = following.catch((error: unknown) =>
      this.parts.context.log.error("a step after the run failed", { error: messageOf(error) }),
    );
    return ended;
  }

  /** Resolves when every requested run has ended. */
  async idle(): Promise<void> {
    await this.last;
  }

  private async runWithPlace(request: RunRequest, why: string): Promise<CompanyReport | null> {
    const { context, places } = this.parts;
    const { clock, log } = context;
    const closed = AbortSignal.any([request.closed, this.parts.closed]);
    const release = await places.acquire(this.parts.closed);
    if (!release) return null;
    const startedMs = clock.nowMs();
    try {
      const transport = this.parts.connect({ closed, mostRequests: request.mostRequests });
      const mode = request.full ? "full" : "incremental";
      const run: RunUnderWay = { request, mode, startedMs, tally: new Tally(), transport, closed };
      this.current = run;
      log.info("a run begins", { why, mode });
      const report = await this.perform(run);
      await transport.close();
      const { outcome, requests } = report;
      this.current = null;
      this.parts.onEnd(run, { outcome, startedMs, finishedMs: clock.nowMs() });
      log.info("a run ended", { why, outcome, requests: requests.total, error: report.error?.message });
      return report;
    } finally {
      this.current = null;
      release();
    }
  }

  /** A bug in one company's run is reported as its outcome. */
  private async perform(run: RunUnderWay): Promise<CompanyReport> {
    try {
      return await this.parts.perform(run);
    } catch (error) {
      const { clock, log } = this.parts.context;
      log.error("a run failed", { error: messageOf(error) });
      return notBegun(clock, isoTime(run.startedMs), error);
    }
  }
}
