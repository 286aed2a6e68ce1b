import { messageOf, MirrorError } from "../base/errors.ts";
import type { Resource } from "../connector/resource.ts";
import type { ServiceAnswer, Transport } from "../connector/transport.ts";
import { requestFor } from "../extract/requests.ts";
import type { Cause, Reading } from "../store/reading.ts";
import type { Work } from "../work/item.ts";
import { consequenceOf } from "./failure.ts";
import { awayAfter } from "./limits.ts";
import type { Session } from "./session.ts";
import { requestIdOf, settleFailure } from "./settle-failure.ts";
import { takeChildList } from "./take-child.ts";
import { takeDetail } from "./take-detail.ts";
import { takeList } from "./take-list.ts";

/**
 * The loop: lease a row, ask the service, hand the answer to the door, until nothing is due.
 *
 * Guarantee: a row is removed only in the transaction that stores its answer (I1). Source of truth: the
 * queue. Worst outcome of a crash: the rows that were leased are read again.
 */
export interface EngineOptions {
  readonly transport: Transport;
  readonly concurrency: number;
  /** Aborts waiting and what is in flight; what was committed stays. */
  readonly signal: AbortSignal;
  /** The run's time is over: what is in flight may finish, nothing new begins. */
  readonly closed: AbortSignal;
}

export class Engine {
  private readonly session: Session;
  private readonly options: EngineOptions;
  private readonly active = new Set<Promise<void>>();
  private readonly stop = new AbortController();
  private readonly resources: readonly string[];
  private failuresInARow = 0;
  /** The run's requests are used up: what is in flight may finish, nothing new begins. */
  private full = false;
  private fatal: unknown = null;

  constructor(session: Session, options: EngineOptions) {
    this.session = session;
    this.options = options;
    this.resources = [...session.selected.keys()];
  }

  /** Works until nothing of this run is due; `drained`: a limit ended it. Throws what ended it early. */
  async run(): Promise<"done" | "drained"> {
    const signal = AbortSignal.any([this.stop.signal, this.options.signal]);
    while (!signal.aborted) {
      if (!this.draining && this.active.size < this.options.concurrency && this.start(signal)) continue;
      if (this.active.size > 0) await Promise.race(this.active);
      else if (this.draining || !(await this.waitForRetry(signal))) break;
    }
    await Promise.allSettled(this.active);
    if (this.fatal) throw this.fatal;
    return this.draining && this.hasMore() ? "drained" : "done";
  }

  private hasMore(): boolean {
    const { queue, clock } = this.session;
    const work = queue.lease(clock.nowMs(), this.resources);
    if (work) queue.release(work);
    return work !== null || queue.nextRetryMs(this.resources) !== null;
  }

  private get draining(): boolean {
    return this.full || this.options.closed.aborted;
  }

  private start(signal: AbortSignal): boolean {
    const work = this.session.queue.lease(this.session.clock.nowMs(), this.resources);
    if (!work) return false;
    const task = this.handle(work, signal).catch((error: unknown) => this.end(error));
    this.active.add(task);
    void task.finally(() => {
      this.active.delete(task);
      this.session.queue.release(work);
    });
    return true;
  }

  /** Rows that failed a moment ago are due again shortly; second looks of the future are another run's. */
  private async waitForRetry(signal: AbortSignal): Promise<boolean> {
    const dueMs = this.session.queue.nextRetryMs(this.resources);
    if (dueMs === null) return false;
    const until = AbortSignal.any([signal, this.options.closed]);
    await this.session.clock.sleep(Math.max(1, dueMs - this.session.clock.nowMs()), until);
    return true;
  }

  private end(error: unknown): void {
    this.fatal ??= error;
    this.stop.abort();
  }

  private async handle(work: Work, signal: AbortSignal): Promise<void> {
    const { mirror, tally } = this.session;
    const resource = this.session.selected.get(work.resource);
    if (!resource) return;
    let sentSeq = mirror.sequence.next();
    mirror.fences.sent(sentSeq);
    const onSent = () => {
      mirror.fences.settled(sentSeq);
      sentSeq = mirror.sequence.next();
      mirror.fences.sent(sentSeq);
      tally.sent(work.kind);
    };
    try {
      const request = { ...requestFor(resource, work), lane: work.lane, signal, onSent };
      const answer = await this.options.transport.send(request);
      tally.requests.retried += answer.attempts - 1;
      await this.take(resource, work, this.reading(work, sentSeq, answer.requestId), answer);
      this.failuresInARow = 0;
    } catch (error) {
      if (signal.aborted && !this.stop.signal.aborted) return;
      this.fail(resource, work, error, this.reading(work, sentSeq, requestIdOf(error)));
    } finally {
      mirror.fences.settled(sentSeq);
    }
  }

  private reading(work: Work, sentSeq: number, requestId: string | null): Reading {
    return {
      cause: causeOf(work),
      sentSeq,
      receivedSeq: this.session.mirror.sequence.next(),
      receivedAtMs: this.session.clock.nowMs(),
      requestId,
      run: this.session.run,
    };
  }

  private async take(resource: Resource, work: Work, reading: Reading, answer: ServiceAnswer): Promise<void> {
    if (work.kind === "child") takeChildList(this.session, resource, work, reading, answer.body);
    else if (work.kind === "detail" || work.kind === "confirm") {
      takeDetail(this.session, resource, work, reading, answer.body);
    } else await takeList(this.session, resource, work, reading, answer.body);
  }

  private fail(resource: Resource, work: Work, error: unknown, reading: Reading): void {
    const consequence = consequenceOf(error, work);
    this.session.log.debug(`${work.resource} ${work.target}: ${messageOf(error)}`, {
      consequence: consequence.kind,
    });
    if (isAway(error) && ++this.failuresInARow >= awayAfter) {
      this.end(error);
      return;
    }
    if (consequence.kind === "drain") this.full = true;
    else if (consequence.kind === "stop") this.end(error);
    else
      this.session.mirror.apply(() =>
        settleFailure(this.session, resource, work, error, reading, consequence),
      );
  }
}

function isAway(error: unknown): boolean {
  return error instanceof MirrorError && (error.kind === "network" || error.kind === "unavailable");
}

function causeOf(work: Work): Cause {
  if (work.lane === "webhook") return "webhook";
  if (work.kind === "confirm") return "confirm";
  return work.kind === "detail" ? "hydrate" : "sweep";
}
