import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Lane } from "../../base/lane.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ServiceAnswer, Transport } from "../../connector/transport.ts";
import { requestFor } from "../../extract/work-request.ts";
import type { Cause, ReadStamp } from "../../store/apply/read-stamp.ts";
import { isUrgent, type WorkItem } from "../../state/work-item.ts";
import { Notifier } from "../../base/notifier.ts";
import type { RetryPolicy } from "../retry/retry-policy.ts";
import { applyCounted, type RunContext } from "../context/run-context.ts";
import { requestIdOf, handleFailure } from "../apply/handle-failure.ts";
import { takeChildList } from "../apply/child-list-answer.ts";
import { takeDetail } from "../apply/detail-answer.ts";
import { takeList } from "../apply/list-answer.ts";

/**
 * The loop: lease a row, ask the service, hand the answer to the door, until its course is over.
 *
 * Guarantee: a row is removed only in the transaction that stores its answer (I1). Source of truth: the
 * queue. Worst outcome of a crash: the rows that were leased are read again.
 */
export interface EngineOptions {
  readonly transport: Transport;
  readonly concurrency: number;
  readonly course: RetryPolicy;
  /** Aborts waiting and what is in flight; what was committed stays. */
  readonly signal: AbortSignal;
  /** The time is over: what is in flight may finish, nothing new begins. */
  readonly closed: AbortSignal;
}

/** A wall clock may be set, and a machine may sleep: no wait is longer than this. */
const longestWaitMs = 60_000;

export class Engine {
  private readonly session: RunContext;
  private readonly options: EngineOptions;
  private readonly active = new Set<Promise<void>>();
  private readonly stop = new AbortController();
  private readonly bell = new Notifier();
  private readonly resources: readonly string[];
  /** The run's requests are used up: what is in flight may finish, nothing new begins. */
  private full = false;
  private fatal: unknown = null;
  /** In flight beside events: second looks and what follows, which may wait long for the budget. */
  private patient = 0;

  constructor(session: RunContext, options: EngineOptions) {
    this.session = session;
    this.options = options;
    this.resources = [...session.selected.keys()];
  }

  /** Rows were added to the queue. */
  wake(): void {
    this.bell.notify();
  }

  /** Works until its course is over; `drained`: a limit ended it. Throws what ended it early. */
  async run(): Promise<"done" | "drained"> {
    const signal = AbortSignal.any([this.stop.signal, this.options.signal]);
    const ring = () => this.bell.notify();
    const ends = [signal, this.options.closed];
    for (const end of ends) end.addEventListener("abort", ring);
    const unwatch = this.session.queue.watch(ring);
    try {
      await this.work(signal);
    } catch (error) {
      this.end(error);
    } finally {
      await Promise.allSettled(this.active);
      unwatch();
      for (const end of ends) end.removeEventListener("abort", ring);
    }
    if (this.fatal) throw this.fatal;
    return this.draining && this.hasMore() ? "drained" : "done";
  }

  private async work(signal: AbortSignal): Promise<void> {
    const { course, concurrency } = this.options;
    while (!signal.aborted) {
      const mayStart = !this.draining && this.active.size < concurrency;
      if (mayStart && this.start(signal)) continue;
      if (this.active.size === 0) {
        if (this.draining || (course.ends && course.nextLookMs() === null)) return;
        course.rested();
      }
      // With all places of the patient taken nothing is due until one of them ends, or somebody rings.
      const mayBeDue = mayStart && this.patient < this.mostPatient;
      await this.waitForMore(mayBeDue && (this.active.size === 0 || !course.ends));
    }
  }

  /** Until something in flight is done, somebody rings, or, with `timed`, a row of the queue is due. */
  private async waitForMore(timed: boolean): Promise<void> {
    const dueMs = timed ? this.options.course.nextLookMs() : null;
    if (dueMs === null) return this.bell.wait();
    const { clock } = this.session;
    const over = new AbortController();
    const waitMs = Math.min(longestWaitMs, Math.max(1, dueMs - clock.nowMs()));
    const sleep = async () => {
      await clock.sleep(waitMs, over.signal);
      if (!over.signal.aborted) this.bell.notify();
    };
    void sleep();
    await this.bell.wait();
    over.abort();
  }

  private hasMore(): boolean {
    const { queue, clock, share } = this.session;
    const work = queue.lease(clock.nowMs(), this.resources, share);
    if (work) queue.unlease(work);
    return work !== null || queue.nextRetryMs(this.resources, share) !== null;
  }

  private get draining(): boolean {
    return this.full || this.options.closed.aborted;
  }

  private start(signal: AbortSignal): boolean {
    const { queue, clock, share } = this.session;
    const work = queue.lease(clock.nowMs(), this.resources, share);
    if (!work) return false;
    const isPatient = this.isPatient(work);
    if (isPatient && this.patient >= this.mostPatient) {
      queue.unlease(work);
      return false;
    }
    this.patient += Number(isPatient);
    const task = this.handle(work, signal).catch((error: unknown) => this.end(error));
    this.active.add(task);
    void task.finally(() => {
      this.active.delete(task);
      this.patient -= Number(isPatient);
      queue.release(work);
      this.bell.notify();
    });
    return true;
  }

  /** Events are leased first, so what comes after them may be held back without holding an event back. */
  private isPatient(work: WorkItem): boolean {
    return !this.options.course.ends && !isUrgent(work);
  }

  /** The rest of the places is always free for events. */
  private get mostPatient(): number {
    return Math.max(1, Math.floor(this.options.concurrency / 2));
  }

  private end(error: unknown): void {
    this.fatal ??= error;
    this.stop.abort();
  }

  private async handle(work: WorkItem, signal: AbortSignal): Promise<void> {
    const { mirror, tally } = this.session;
    const resource = this.session.selected.get(work.resource);
    if (!resource) return;
    let sentSeq = mirror.sequence.next();
    mirror.fences.begin(sentSeq);
    const onSent = () => {
      mirror.fences.end(sentSeq);
      sentSeq = mirror.sequence.next();
      mirror.fences.begin(sentSeq);
      tally.sent(work.kind);
    };
    try {
      const request = { ...requestFor(resource, work), lane: permitLane(work), signal, onSent };
      const answer = await this.options.transport.send(request);
      tally.requests.retried += answer.attempts - 1;
      await this.take(resource, work, this.reading(work, sentSeq, answer.requestId), answer);
      this.options.course.succeeded(work);
    } catch (error) {
      if (signal.aborted && !this.stop.signal.aborted) return;
      await this.fail(resource, work, error, this.reading(work, sentSeq, requestIdOf(error)));
    } finally {
      mirror.fences.end(sentSeq);
    }
  }

  private reading(work: WorkItem, sentSeq: number, requestId: string | null): ReadStamp {
    return {
      cause: causeOf(work),
      sentSeq,
      receivedSeq: this.session.mirror.sequence.next(),
      receivedAtMs: this.session.clock.nowMs(),
      requestId,
      run: this.session.run,
    };
  }

  private async take(
    resource: Resource,
    work: WorkItem,
    reading: ReadStamp,
    answer: ServiceAnswer,
  ): Promise<void> {
    if (work.kind === "child") takeChildList(this.session, resource, work, reading, answer.body);
    else if (work.kind === "detail" || work.kind === "confirm") {
      takeDetail(this.session, resource, work, reading, answer.body);
    } else await takeList(this.session, resource, work, reading, answer.body);
  }

  private async fail(resource: Resource, work: WorkItem, error: unknown, reading: ReadStamp): Promise<void> {
    const consequence = await this.options.course.judge(error, work);
    this.session.log.debug(`${work.resource} ${work.target}: ${messageOf(error)}`, {
      consequence: consequence.kind,
    });
    if (consequence.kind === "drain") this.full = true;
    else if (consequence.kind === "stop") this.end(consequence.because ?? error);
    else this.settle(resource, work, error, reading, consequence);
  }

  /** A row that cannot even be settled is given up where the work never ends: it must not be in everyone's way. */
  private settle(
    resource: Resource,
    work: WorkItem,
    error: unknown,
    reading: ReadStamp,
    what: Settlable,
  ): void {
    const apply = (settled: Settlable) =>
      applyCounted(this.session, () => handleFailure(this.session, resource, work, error, reading, settled));
    try {
      apply(what);
    } catch (broken) {
      if (this.options.course.ends || broken instanceof MirrorError) throw broken;
      this.session.log.error(`${work.resource} ${work.target}: ${messageOf(broken)}`);
      apply({ kind: "dead" });
    }
  }
}

type Settlable = Parameters<typeof handleFailure>[5];

/** Only an event's own read draws on what is kept for events. */
function permitLane(work: WorkItem): Lane {
  return work.lane === "webhook" && !isUrgent(work) ? "list" : work.lane;
}

function causeOf(work: WorkItem): Cause {
  if (work.lane === "webhook") return "webhook";
  if (work.kind === "confirm") return "confirm";
  return work.kind === "detail" ? "hydrate" : "sweep";
}
