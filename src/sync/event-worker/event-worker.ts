import type { Resource } from "../../connector/resource.ts";
import { databaseError } from "../../store/database.ts";
import { Engine } from "../engine/engine.ts";
import { identify, rememberIdentity } from "../identity/identify.ts";
import type { RunContext } from "../context/run-context.ts";
import { stopSignal } from "../engine/stop-signal.ts";
import { Tally } from "../context/tally.ts";
import { ContinuousRetryPolicy } from "../retry/continuous-retry-policy.ts";
import { eventWorkerContext, type EventWorkerParts } from "./event-worker-context.ts";
import { WorkerStatus, type WorkerState } from "./worker-status.ts";

export type { EventWorkerParts };

export interface EventWorkerOptions {
  readonly resources: readonly Resource[];
  /** Beside that of a run. */
  readonly concurrency: number;
  /** Ends it at once: waiting and what is in flight are broken off. */
  readonly signal: AbortSignal;
  /** Ends it when what is in flight is done, or after `graceMs`. */
  readonly closed?: AbortSignal;
  readonly graceMs?: number;
  /** Told at each change. */
  readonly onState?: (state: WorkerState) => void;
}

export interface EventWorker {
  /** Events were stored. */
  wake(): void;
  state(): WorkerState;
  readonly tally: Tally;
  /** Resolves when it was told to end and has; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Works on what events ask for, for ever: first who the token is of (I10), then row after row.
 *
 * Guarantee: nothing but the order to end ends it, and no outage costs an event: rows stay in the queue until
 * their read is applied. Source of truth: the queue. Worst outcome of a crash: what was in flight is read again.
 */
export function startEventWorker(parts: EventWorkerParts, options: EventWorkerOptions): EventWorker {
  const tally = new Tally();
  tally.begin(options.resources.map((resource) => resource.name));
  const tending = new EventWorkerLoop(parts, options, tally);
  return {
    wake: () => tending.wake(),
    state: () => tending.story.state(),
    tally,
    ended: tending.untilEnded(),
  };
}

class EventWorkerLoop {
  readonly story: WorkerStatus;
  private readonly parts: EventWorkerParts;
  private readonly options: EventWorkerOptions;
  private readonly tally: Tally;
  private readonly closed: AbortSignal;
  /** Either order to end. */
  private readonly ending: AbortSignal;
  private readonly signal: AbortSignal;
  private engine: Engine | null = null;
  private course: { readonly session: RunContext; readonly course: ContinuousRetryPolicy } | null = null;
  /** The service told who we are, and still nothing could be read or written: not yet a recovery. */
  private inDoubt = false;

  constructor(parts: EventWorkerParts, options: EventWorkerOptions, tally: Tally) {
    const { signal, closed = new AbortController().signal, graceMs = 30_000, onState } = options;
    this.parts = parts;
    this.options = options;
    this.tally = tally;
    this.closed = closed;
    this.ending = AbortSignal.any([signal, closed]);
    this.signal = stopSignal(signal, closed, graceMs);
    this.story = new WorkerStatus(parts.clock, parts.log, onState ?? (() => undefined));
  }

  wake(): void {
    this.engine?.wake();
  }

  async untilEnded(): Promise<void> {
    while (!this.ending.aborted) {
      const waitMs = await this.tryToWork();
      if (waitMs > 0 && !this.ending.aborted) await this.parts.clock.sleep(waitMs, this.ending);
    }
  }

  /** Until told to end, or something is in the way: then how long to pause. */
  private async tryToWork(): Promise<number> {
    try {
      await this.identifyCompany();
      if (!this.inDoubt) this.story.works();
      await this.work();
      return 0;
    } catch (thrown) {
      if (this.ending.aborted) return 0;
      return this.story.impeded(databaseError(this.parts.mirror.db.name, thrown));
    }
  }

  private async identifyCompany(): Promise<void> {
    const { mirror } = this.parts;
    const { changed, identity } = await this.ask();
    if (changed) mirror.apply(() => rememberIdentity(mirror, identity));
  }

  private ask() {
    const { mirror, transport, token, random, log } = this.parts;
    return identify({
      mirror,
      transport,
      token,
      random,
      acceptIdentity: false,
      lane: "webhook",
      once: true,
      signal: this.signal,
      onRequest: () => this.tally.sent("list"),
      onNotice: (message) => log.warn(message),
    });
  }

  private async work(): Promise<void> {
    this.course ??= this.newCourse();
    const { session, course } = this.course;
    const { transport } = this.parts;
    const { concurrency } = this.options;
    const { signal, closed } = this;
    this.engine = new Engine(session, { transport, concurrency, course, signal, closed });
    this.inDoubt = true;
    try {
      await this.engine.run();
    } finally {
      this.engine = null;
    }
  }

  /** One for all its life: what it knows of rows and routes outlasts an outage. */
  private newCourse(): { readonly session: RunContext; readonly course: ContinuousRetryPolicy } {
    const session = eventWorkerContext(this.parts, this.options.resources, this.tally);
    const onWorking = () => {
      this.inDoubt = false;
      this.story.works();
    };
    const probe = () =>
      this.ask().then(
        () => null,
        (error: unknown) => error,
      );
    return { session, course: new ContinuousRetryPolicy(session, { probe, onWorking }) };
  }
}
