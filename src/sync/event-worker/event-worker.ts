import type { Resource } from "../../connector/resource.ts";
import { databaseError } from "../../store/database.ts";
import { createRunContext, type RunContext, type WorkerParts } from "../context/run-context.ts";
import { Tally } from "../context/tally.ts";
import { dailyRemovals } from "../deletion/mass-delete-guard.ts";
import { sharedRouteProofs } from "../deletion/route-probe.ts";
import { Engine, stopSignal } from "../engine/engine.ts";
import { identify, rememberIdentity, type Identified } from "../identity/identify.ts";
import { ContinuousRetryPolicy } from "../retry/continuous-retry-policy.ts";
import { WorkerStatus, type WorkerState } from "./worker-status.ts";

/** How the event worker works, and what ends it. */
export interface EventWorkerOptions {
  readonly resources: readonly Resource[];
  /** Requests in flight, beside those of a run. */
  readonly concurrency: number;
  /** Ends it at once: aborts waiting and requests in flight. */
  readonly signal: AbortSignal;
  /** Ends it when requests in flight are done, or after `graceMs`. */
  readonly closed: AbortSignal;
  readonly graceMs: number;
}

/** A running event worker. */
export interface EventWorker {
  state(): WorkerState;
  readonly tally: Tally;
  /** Resolves when it was stopped and has ended; never rejects. */
  readonly ended: Promise<void>;
}

/** Starts the worker of one company's events; it runs until stopped. */
export function startEventWorker(
  parts: Omit<WorkerParts, "tally">,
  options: EventWorkerOptions,
): EventWorker {
  const tally = new Tally();
  tally.begin(options.resources.map(({ name }) => name));
  const status = new WorkerStatus(parts.clock, parts.log);
  const loop = new EventWorkerLoop({ ...parts, tally }, options, status);
  return { state: () => status.state(), tally, ended: loop.untilStopped() };
}

/**
 * Runs until stopped: verifies the token's company (I10), then processes the queued work of webhooks. After an
 * error it pauses and begins again.
 *
 * Guarantee: only the signals end it, and no outage loses an event: work items stay in the queue until their read
 * is applied.
 * Source of truth: the work queue.
 * Worst outcome of a crash: the requests in flight are sent again.
 */
class EventWorkerLoop {
  private readonly parts: WorkerParts;
  private readonly options: EventWorkerOptions;
  private readonly status: WorkerStatus;
  /** Either signal to end. */
  private readonly ending: AbortSignal;
  private readonly signal: AbortSignal;
  /** Kept over outages: what is known of items and routes stays valid. */
  private kept: { readonly run: RunContext; readonly policy: ContinuousRetryPolicy } | null = null;
  /** The service has identified the company, but nothing was read or written since: not yet a recovery. */
  private inDoubt = false;

  constructor(parts: WorkerParts, options: EventWorkerOptions, status: WorkerStatus) {
    const { signal, closed, graceMs } = options;
    this.parts = parts;
    this.options = options;
    this.status = status;
    this.ending = AbortSignal.any([signal, closed]);
    this.signal = stopSignal(signal, closed, graceMs);
  }

  async untilStopped(): Promise<void> {
    while (!this.ending.aborted) {
      const pauseMs = await this.tryToWork();
      if (pauseMs > 0 && !this.ending.aborted) await this.parts.clock.sleep(pauseMs, this.ending);
    }
  }

  /** Works until stopped, or until an error; returns how long to pause then, ms. */
  private async tryToWork(): Promise<number> {
    const { mirror } = this.parts;
    try {
      const { changed, identity } = await this.identifyCompany();
      if (changed) mirror.apply(() => rememberIdentity(mirror, identity));
      if (!this.inDoubt) this.status.works();
      await this.work();
      return 0;
    } catch (thrown) {
      if (this.ending.aborted) return 0;
      return this.status.impeded(databaseError(mirror.db.name, thrown));
    }
  }

  private identifyCompany(): Promise<Identified> {
    const { signal } = this;
    return identify(this.parts, { acceptIdentity: false, lane: "webhook", repeatable: false, signal });
  }

  private async work(): Promise<void> {
    this.kept ??= this.createContext();
    const { run, policy } = this.kept;
    const { signal } = this;
    const { concurrency, closed } = this.options;
    const { transport } = this.parts;
    this.inDoubt = true;
    await new Engine(run, { transport, concurrency, policy, signal, closed }).work();
  }

  /** A run without lists: what it knows of routes and removals expires with time instead of with the run. */
  private createContext(): { readonly run: RunContext; readonly policy: ContinuousRetryPolicy } {
    const { mirror, queue, clock } = this.parts;
    const run = createRunContext(this.parts, this.options.resources, {
      runId: null,
      startedAtMs: clock.nowMs(),
      share: "events",
      full: false,
      allowMassDelete: false,
      parentBudget: null,
      provenRoutes: sharedRouteProofs(queue, clock),
      removals: dailyRemovals(mirror.db, clock),
    });
    const onWorking = () => {
      this.inDoubt = false;
      this.status.works();
    };
    const probe = () =>
      this.identifyCompany().then(
        () => null,
        (error: unknown) => error,
      );
    return { run, policy: new ContinuousRetryPolicy(run, { probe, onWorking }) };
  }
}
