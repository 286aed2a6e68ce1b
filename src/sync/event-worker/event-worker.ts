import { databaseError } from "../../store/database.ts";
import { createRunContext, type RunContext, type WorkerParts } from "../context/run-context.ts";
import { Tally } from "../context/tally.ts";
import { dailyRemovals, sharedRouteProofs } from "../deletion/deletion.ts";
import { Engine } from "../engine/engine.ts";
import { stopSignal } from "../../base/cancellation.ts";
import type { WorkOptions } from "../engine/engine.ts";
import { identify, type Identified } from "../identity/identify.ts";
import { rememberIdentity } from "../../state/meta.ts";
import { ContinuousRetryPolicy } from "../retry/retry-policy.ts";
import { createWorkerStatus, type WorkerState } from "./worker-status.ts";

/**
 * Works on one company's events from its construction until stopped: verifies the token's company (I10), then
 * processes the queued work of webhooks. After an error it pauses and begins again.
 *
 * Guarantee: only the signals end it, and no outage loses an event: work items stay in the queue until their read
 * is applied.
 * Source of truth: the work queue.
 * Worst outcome of a crash: the requests in flight are sent again.
 */
export class EventWorker {
  readonly tally = new Tally();
  /** Resolves when it was stopped and has ended; never rejects. */
  readonly ended: Promise<void>;
  private readonly parts: WorkerParts;
  private readonly options: WorkOptions;
  private readonly status: ReturnType<typeof createWorkerStatus>;
  private readonly ending: AbortSignal;
  private readonly signal: AbortSignal;
  /** Kept over outages: what is known of items and routes stays valid. */
  private kept: { readonly run: RunContext; readonly policy: ContinuousRetryPolicy } | null = null;
  /** The service has identified the company, but nothing was read or written since: not yet a recovery. */
  private inDoubt = false;

  /** Starts it. `options.concurrency` is meant beside the requests of a run. */
  constructor(parts: Omit<WorkerParts, "tally">, options: WorkOptions) {
    this.parts = { ...parts, tally: this.tally };
    this.options = options;
    this.status = createWorkerStatus(parts.clock, parts.log);
    this.ending = AbortSignal.any([options.signal, options.closed]);
    this.signal = stopSignal(options);
    this.ended = this.workUntilStopped();
  }

  state(): WorkerState {
    return this.status.state();
  }

  private async workUntilStopped(): Promise<void> {
    while (!this.ending.aborted) {
      const pauseMs = await this.tryToWork();
      if (pauseMs > 0 && !this.ending.aborted) await this.parts.clock.sleep(pauseMs, this.ending);
    }
  }

  /** Works until stopped, or until an error; returns how long to pause then, ms. */
  private async tryToWork(): Promise<number> {
    const { mirror, transport } = this.parts;
    const { concurrency, closed } = this.options;
    const { signal } = this;
    try {
      const { changed, identity } = await this.identifyCompany();
      if (changed) mirror.apply(() => rememberIdentity(mirror, identity));
      if (!this.inDoubt) this.status.works();
      this.kept ??= this.createContext();
      const { run, policy } = this.kept;
      this.inDoubt = true;
      await new Engine(run, { transport, concurrency, policy, signal, closed }).work();
      return 0;
    } catch (thrown) {
      if (this.ending.aborted) return 0;
      return this.status.impeded(databaseError(mirror.db.name, thrown));
    }
  }

  private identifyCompany(): Promise<Identified> {
    const { signal } = this;
    return identify(this.parts, { acceptIdentity: false, lane: "webhook", signal });
  }

  /** A run without lists: what it knows of routes and removals expires with time instead of with the run. */
  private createContext(): { readonly run: RunContext; readonly policy: ContinuousRetryPolicy } {
    const { mirror, queue, clock } = this.parts;
    const run = createRunContext(this.parts, {
      resources: this.options.resources,
      provenRoutes: sharedRouteProofs(queue, clock),
      signal: this.signal,
      removals: dailyRemovals(mirror.db, clock),
    });
    const onWorking = () => {
      this.inDoubt = false;
      this.status.works();
    };
    return { run, policy: new ContinuousRetryPolicy(run.log, () => this.identifyCompany(), onWorking) };
  }
}
