import { isoTime } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { Semaphore } from "../base/semaphore.ts";
import type { Resource } from "../connector/resource.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import { isWorthPublishing, listedOutcome, modeOf, notBegun } from "../sync/context/run-summary.ts";
import type { RunSummary } from "../sync/context/run-summary.ts";
import type { RunMode } from "../state/runs.ts";
import type { ProgressView } from "../log/progress.ts";
import type { CompanyRun, RunRequest, Scrubbing } from "./company-run.ts";
import type { ProcessContext } from "./process-context.ts";

/** Places for the runs of a process; each company has a request budget of its own, but the processor is shared. */
export type RunPlaces = ReturnType<typeof createRunPlaces>;

/** So many at once, over all companies. A scrub lasts long and leaves most of the processor free. */
export function createRunPlaces(mostRuns = 4, mostScrubs = 24) {
  const [runs, scrubs] = [new Semaphore(mostRuns), new Semaphore(mostScrubs)];
  return {
    /** Waits for the place of a run; null: `signal` aborted first. */
    take: async (signal?: AbortSignal) => {
      let given = await runs.acquire(signal);
      if (!given) return null;
      const release = () => {
        given?.();
        given = null;
      };
      /** Gives the place to other runs, and waits for one among the scrubs when `step` is done, or until `end` aborts. */
      const beginScrub = async (step: () => Promise<void>, end: AbortSignal) => {
        release();
        await step();
        given = await scrubs.acquire(end);
      };
      return { beginScrub, release, [Symbol.dispose]: release };
    },
  };
}

/** What a run that no person asked for does. */
export const usualRun = {
  full: false,
  quick: false,
  allowMassDelete: false,
  acceptIdentity: false,
  scrub: false,
  mostRequests: undefined,
};

interface RunUnderWay {
  readonly request: RunRequest;
  readonly mode: RunMode;
  /** Epoch milliseconds. */
  readonly startedMs: number;
  readonly run: CompanyRun;
  readonly endScrub: () => void;
}

export type RunEnd = NonNullable<CompanyStatusView["lastRun"]>;

interface RunQueueParts {
  readonly context: Pick<ProcessContext, "clock" | "log">;
  readonly places: RunPlaces;
  /** No run begins any more, and the one under way ends. */
  readonly closed: AbortSignal;
  /** Connects the run of a request. */
  readonly begin: (request: RunRequest) => CompanyRun;
  readonly perform: (run: CompanyRun, scrubbing: Required<Scrubbing>) => Promise<RunSummary>;
  /** Called when a run has ended and what follows it was asked for, before the next one begins; `current` is null by then. */
  readonly onEnd: (run: CompanyRun, ended: RunEnd) => void;
  /**
   * Asks for what follows a run: before its scrub, and after its end if that brought in more. Neither scrub nor the
   * next run waits for it. A rejection is logged.
   */
  readonly afterRun: () => Promise<void>;
}

/**
 * The runs of one company: one at a time, in the order of their requests. A run that waits ends the scrub of the run
 * under way. The next run with a scrub makes up for it; where none waits, one that reads no list again that is young.
 *
 * Guarantee: a run that fails, or what follows it, stops no later run.
 * Source of truth: this process's memory; what a run has done is in the mirror.
 * Worst outcome of a crash: waiting runs are forgotten; the scheduler and the commands of others ask again.
 */
export class RunQueue {
  current: RunUnderWay | null = null;
  private readonly parts: RunQueueParts;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  /** Requests that have not ended. */
  private open = 0;
  /** What a run was to read whose scrub ended early, until another run scrubs. */
  private owed: readonly Resource[] | null = null;

  constructor(parts: RunQueueParts) {
    this.parts = parts;
  }

  get isBusy(): boolean {
    return this.open > 0;
  }

  get isListing(): boolean {
    return this.current?.run.tally.scrubPlanned === null;
  }

  /** Of the run under way, if it is the one of this request; null: it has not begun, or is over. */
  progress(request = this.current?.request): ProgressView | null {
    const { current } = this;
    return current && current.request === request ? current.run.progress() : null;
  }

  /** Null: the queue was closed first, or `isNeeded` said no when the run could begin. */
  run(request: RunRequest, why: string, isNeeded: () => boolean = () => true): Promise<RunSummary | null> {
    this.current?.endScrub();
    this.waiting++;
    this.open++;
    const ended = this.last.then(() => {
      this.waiting--;
      if (isNeeded()) return this.runWithPlace(request, why);
      this.scrubOwed();
      return null;
    });
    this.last = ended.catch(() => null).finally(() => this.open--);
    return ended;
  }

  /** A run that waits scrubs itself, or has this called when it ends. */
  private scrubOwed(): void {
    const { owed: resources, parts } = this;
    if (resources === null || this.waiting > 0) return;
    const request = { ...usualRun, resources, scrub: true, continues: true, closed: parts.closed };
    this.run(request, "the rest of a scrub").catch((error: unknown) =>
      parts.context.log.error("a run failed", { error: messageOf(error) }),
    );
  }

  private follow(summary: RunSummary): void {
    if (!isWorthPublishing(summary)) return;
    const { log } = this.parts.context;
    this.parts
      .afterRun()
      .catch((error: unknown) => log.error("a step after the run failed", { error: messageOf(error) }));
  }

  async idle(): Promise<void> {
    await this.last;
  }

  private async runWithPlace(request: RunRequest, why: string): Promise<RunSummary | null> {
    const { context, places } = this.parts;
    const { clock, log } = context;
    const closed = AbortSignal.any([request.closed, this.parts.closed]);
    using place = await places.take(this.parts.closed);
    if (!place) return null;
    const startedMs = clock.nowMs();
    if (request.scrub) this.owed = null;
    const scrub = new AbortController();
    if (this.waiting > 0) scrub.abort();
    const onListed = async (summary: RunSummary, isBeforeScrub: boolean) => {
      if (!isBeforeScrub) return this.follow(summary);
      await place.beginScrub(async () => this.follow(summary), AbortSignal.any([closed, scrub.signal]));
    };
    try {
      const run = this.parts.begin({ ...request, closed });
      const mode = modeOf(request);
      this.current = { request, mode, startedMs, run, endScrub: () => scrub.abort() };
      log.info("a run begins", { why, mode });
      const summary = await this.perform(run, startedMs, { onListed, scrubClosed: scrub.signal });
      await run.transport.close();
      const { outcome, requests, error } = summary;
      this.current = null;
      const times = { startedMs, finishedMs: clock.nowMs() };
      this.follow(summary);
      this.parts.onEnd(run, { outcome: listedOutcome(summary), ...times, message: error?.message ?? null });
      log.info("a run ended", { why, outcome, requests: requests.total, error: error?.message });
      if (scrub.signal.aborted && (summary.scrub?.left ?? 0) > 0) this.owed = request.resources;
      else this.scrubOwed();
      return summary;
    } finally {
      this.current = null;
    }
  }

  /** A bug in one company's run is reported as its outcome. */
  private async perform(run: CompanyRun, startedMs: number, scrubbing: Required<Scrubbing>) {
    try {
      return await this.parts.perform(run, scrubbing);
    } catch (error) {
      const { clock, log } = this.parts.context;
      log.error("a run failed", { error: messageOf(error) });
      return notBegun(clock, isoTime(startedMs), error);
    }
  }
}
