import { messageOf, MirrorError } from "../base/errors.ts";
import type { RecordId } from "../base/ids.ts";
import { InvalidError, ServiceError } from "../connector/errors.ts";
import type { Resource } from "../connector/resource.ts";
import type { ServiceAnswer, Transport } from "../connector/transport.ts";
import {
  parentIdOf,
  recordOf,
  requestFor,
  type ChildPayload,
  type PagePayload,
} from "../extract/requests.ts";
import type { Cause, Reading } from "../store/reading.ts";
import { pageTarget, recordTarget, type Work } from "../work/item.ts";
import { consequenceOf, type Consequence } from "./failure.ts";
import { verdictOnGone } from "./gone.ts";
import { awayAfter, mostAttempts, retryDelayMs, smallerPages } from "./limits.ts";
import { removeRecord } from "./remove.ts";
import { mayRemove, type Session } from "./session.ts";
import { askWhetherGone, holdMassDelete } from "./settle.ts";
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

type Settled = Exclude<Consequence, { kind: "stop" | "drain" }>;

export class Engine {
  private readonly session: Session;
  private readonly options: EngineOptions;
  private readonly active = new Set<Promise<void>>();
  private readonly stop = new AbortController();
  private readonly resources: readonly string[];
  /** By resource: the listed record that is asked whether the route answers at all. */
  private readonly canaries = new Map<string, RecordId>();
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
    else this.session.mirror.apply(() => this.settle(resource, work, error, reading, consequence));
  }

  private settle(resource: Resource, work: Work, error: unknown, reading: Reading, what: Settled): void {
    const { queue, clock } = this.session;
    switch (what.kind) {
      case "gone":
        this.settleGone(resource, work, error as ServiceError, reading);
        return;
      case "ask parent":
        this.askParent(work, error, reading);
        return;
      case "smaller page":
        this.shrinkPage(resource, work, error);
        return;
      case "hold":
        this.hold(resource, what.why, error);
        return;
      case "retry":
        queue.failed(work, messageOf(error), clock.nowMs() + what.afterMs);
        return;
      case "dead":
        this.bury(work, error);
    }
  }

  private settleGone(resource: Resource, work: Work, error: ServiceError, reading: Reading): void {
    const { queue } = this.session;
    const id = recordOf(work);
    const verdict = verdictOnGone(this.session, resource, error, id);
    if (verdict.kind === "gone") {
      if (work.kind !== "confirm" && !mayRemove(this.session, resource.name, 1)) {
        holdMassDelete(this.session, resource, 1 + (this.session.removals.get(resource.name) ?? 0));
        queue.failed(work, "held: a mass deletion", null);
        return;
      }
      if (removeRecord(this.session, resource, id, reading)) queue.done(work, reading.sentSeq);
      return;
    }
    if (verdict.kind === "unproven")
      this.bury(work, new MirrorError("protocol", `not removed: ${verdict.why}`));
    else this.askCanary(resource, work, verdict.canary, reading);
  }

  /** Reads a record that the list has just shown, and this one again after it. */
  private askCanary(resource: Resource, work: Work, canary: RecordId, reading: Reading): void {
    const { queue, clock } = this.session;
    const asked = this.canaries.get(resource.name);
    if (asked === undefined) {
      this.canaries.set(resource.name, canary);
      askWhetherGone(this.session, resource.name, canary, "canary", reading, "list");
    } else if (mustGiveUp(work, asked, queue.isReady(resource.name, recordTarget(asked)))) {
      const why = "records that the list shows answer 404 as well";
      this.bury(work, new MirrorError("protocol", `not removed: ${why}`));
      return;
    }
    queue.failed(work, "waiting for proof of the route", clock.nowMs() + retryDelayMs(work.attempts));
  }

  private askParent(work: Work, error: unknown, reading: Reading): void {
    const payload = work.payload as ChildPayload;
    if (work.attempts >= 2 || !this.session.selected.has(payload.parent)) {
      this.bury(work, error);
      return;
    }
    const { queue, clock } = this.session;
    queue.failed(work, messageOf(error), clock.nowMs() + retryDelayMs(work.attempts + 1));
    queue.add({
      kind: "confirm",
      resource: payload.parent,
      target: recordTarget(parentIdOf(payload)),
      lane: "list",
      reason: "child list refused",
      dirtySeq: reading.receivedSeq,
    });
  }

  private shrinkPage(resource: Resource, work: Work, error: unknown): void {
    const payload = work.payload as PagePayload;
    const own = resource.list.kind === "paged" ? resource.list.perPage : 0;
    const smaller = smallerPages.find((size) => size < (payload.perPage ?? own));
    if (smaller === undefined) {
      this.hold(resource, "failed", error);
      return;
    }
    const { queue, log, mirror } = this.session;
    log.warn(
      `${resource.name}: the service refuses ${payload.perPage ?? own} records per page; asking for ${smaller}`,
    );
    queue.drop(resource.name, `page:${payload.variant}:`);
    queue.add({
      kind: "list",
      resource: resource.name,
      target: pageTarget(payload.variant, 1),
      lane: "list",
      reason: "sweep",
      payload: { ...payload, page: 1, perPage: smaller },
      dirtySeq: mirror.sequence.next(),
    });
  }

  /** Closed to us, or refused in a way that trying again cannot mend; other resources go on. */
  private hold(resource: Resource, why: "failed" | "forbidden", error: unknown): void {
    this.session.queue.hold(resource.name, messageOf(error));
    this.session.tally.of(resource.name).failed += 1;
    this.session.tally.trouble({ resource: resource.name, kind: why, ...wordsOf(error) });
  }

  /** A dead letter: kept, shown, and given another chance by the next run. */
  private bury(work: Work, error: unknown): void {
    this.session.queue.failed(work, messageOf(error), null);
    this.session.tally.of(work.resource).failed += 1;
    const words = wordsOf(error);
    const message = `${work.target} was given up: ${words.message}`;
    this.session.tally.trouble({ resource: work.resource, kind: "dead", ...words, message });
  }
}

/** The canary has no canary of its own: two that wait for each other would never end. */
function mustGiveUp(work: Work, canary: RecordId, canaryIsReady: boolean): boolean {
  return recordTarget(canary) === work.target || !canaryIsReady || work.attempts + 1 >= mostAttempts;
}

function wordsOf(error: unknown): { message: string; hint?: string; requestId: string | null } {
  const hint = error instanceof MirrorError && error.hint !== undefined ? { hint: error.hint } : {};
  const said = error instanceof InvalidError ? ` ${JSON.stringify(error.fields)}` : "";
  return { message: messageOf(error) + said, ...hint, requestId: requestIdOf(error) };
}

function requestIdOf(error: unknown): string | null {
  return error instanceof ServiceError ? error.requestId : null;
}

function isAway(error: unknown): boolean {
  return error instanceof MirrorError && (error.kind === "network" || error.kind === "unavailable");
}

function causeOf(work: Work): Cause {
  if (work.lane === "webhook") return "webhook";
  if (work.kind === "confirm") return "confirm";
  return work.kind === "detail" ? "hydrate" : "sweep";
}
