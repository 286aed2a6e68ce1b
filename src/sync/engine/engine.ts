import type { Resource } from "../../connector/resource.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Lane } from "../../base/lane.ts";
import { Notifier } from "../../base/notifier.ts";
import { ContradictionError } from "../../connector/service-errors.ts";
import type { Transport } from "../../connector/transport.ts";
import { requestFor } from "../../extract/work-request.ts";
import { isUrgent, type WorkItem } from "../../state/work-item.ts";
import type { Cause } from "../../store/apply/read-stamp.ts";
import { applyDetail } from "../apply/detail-answer.ts";
import { handleFailure, requestIdOf, type ItemFailure } from "../apply/handle-failure.ts";
import { applyList } from "../lists/list-answer.ts";
import { applyTogether, applyWhenFree, stampOf } from "../context/run-context.ts";
import type { AnswerContext, RunContext } from "../context/run-context.ts";
import type { RetryPolicy } from "../../retry/retry-policies.ts";

const refreshEveryMs = 60_000;
/** Why a record is not asked for that its list shows after so many refusals. */
const refusedInARow = "reads of other records were refused in a row";
/** No wait is longer: a wall clock may be set, and a machine may sleep. */
const longestWaitMs = 60_000;

export interface WorkOptions {
  readonly resources: readonly Resource[];
  readonly concurrency: number;
  /** Ends it at once: aborts waiting and requests in flight; what was committed stays. */
  readonly signal: AbortSignal;
  /** Ends it when requests in flight are done: no new ones begin. */
  readonly closed: AbortSignal;
  /** How long they may take after `closed`, ms. */
  readonly graceMs: number;
}

export interface EngineOptions
  extends Pick<WorkOptions, "concurrency" | "signal">, Partial<Pick<WorkOptions, "closed">> {
  readonly transport: Transport;
  readonly policy: RetryPolicy;
  /** Called between reads once in a minute, and before the work ends. Returns whether it queued more. */
  readonly refresh?: () => Promise<boolean>;
  readonly afterPage?: () => void;
}

/**
 * Leases a work item, sends its request, applies the answer; again until its retry policy ends it. Sleeps while
 * nothing is due; a change of the queue wakes it.
 *
 * Guarantee: a work item is removed only in the transaction that stores its answer (I1).
 * Source of truth: the work queue.
 * Worst outcome of a crash: the requests in flight are sent again.
 */
export class Engine {
  private readonly run: RunContext;
  private readonly options: EngineOptions;
  /**
   * `reading`: items are leased. `draining`: the time or the user's requests are used up; requests in flight may
   * finish. `stopped`: aborted, or failed with `failure`.
   */
  private mode: "reading" | "draining" | "stopped" = "reading";
  private failure: unknown = null;
  private refreshedMs: number;
  private readonly inFlight = new Set<Promise<void>>();
  /** Of those in flight, beside events: rechecks and what events lead to. They may wait long for the budget. */
  private followUps = 0;
  /** Events are leased first, so follow-ups are held back without holding an event back: half is free for events. */
  private readonly mostFollowUps: number;
  private readonly abort = new AbortController();
  private readonly notifier = new Notifier();

  constructor(run: RunContext, options: EngineOptions) {
    this.run = run;
    this.options = options;
    this.refreshedMs = run.clock.monotonicMs();
    this.mostFollowUps = Math.max(1, Math.floor(options.concurrency / 2));
  }

  /**
   * Works until the policy ends it.
   *
   * @returns `drained` when a limit ended it and work is left
   * @throws what ended it early
   */
  async work(): Promise<"done" | "drained"> {
    const { signal, closed } = this.options;
    const stop = () => this.enter("stopped");
    const drain = () => this.enter("draining");
    signal.addEventListener("abort", stop);
    closed?.addEventListener("abort", drain);
    const unwatch = this.run.queue.watch(() => this.notifier.notify());
    if (closed?.aborted) drain();
    if (signal.aborted) stop();
    try {
      await this.loop(AbortSignal.any([signal, this.abort.signal]));
    } catch (error) {
      this.fail(error);
    }
    await Promise.allSettled(this.inFlight);
    unwatch();
    signal.removeEventListener("abort", stop);
    closed?.removeEventListener("abort", drain);
    if (this.failure) throw this.failure;
    return this.mode !== "reading" && this.hasMore() ? "drained" : "done";
  }

  private enter(mode: "draining" | "stopped"): void {
    if (this.mode !== "stopped") this.mode = mode;
    this.notifier.notify();
  }

  /** Nothing else can work either: requests in flight are aborted. The first reason counts. */
  private fail(error: unknown): void {
    this.failure ??= error;
    this.abort.abort();
    this.enter("stopped");
  }

  private async loop(signal: AbortSignal): Promise<void> {
    const { policy } = this.options;
    const { clock } = this.run;
    while (this.mode !== "stopped") {
      if (this.mode === "reading" && clock.monotonicMs() - this.refreshedMs >= refreshEveryMs)
        await this.refresh();
      if (this.mode === "reading" && this.startNext(signal)) continue;
      if (this.inFlight.size === 0) {
        if (this.mode === "draining") return;
        if (policy.ends && !this.hasMore()) {
          if (!(await this.refresh())) return;
          continue;
        }
        policy.idle?.();
      }
      const ms = this.mode === "reading" ? this.waitMs() : null;
      const timeout = ms === null ? undefined : { clock, ms: Math.min(longestWaitMs, Math.max(1, ms)) };
      await this.notifier.wait(timeout);
    }
  }

  /** Returns whether there is more to read. */
  private async refresh(): Promise<boolean> {
    this.refreshedMs = this.run.clock.monotonicMs();
    return (await this.options.refresh?.()) ?? false;
  }

  /** False: nothing may be started now. While the service may be away, one request at a time asks for it. */
  private startNext(signal: AbortSignal): boolean {
    const { policy, concurrency } = this.options;
    const { names, clock } = this.run;
    const { outage } = policy;
    if (!outage) return this.inFlight.size < concurrency && this.start(signal, names);
    if (this.inFlight.size > 0 || clock.monotonicMs() < outage.probeAtMs) return false;
    const others = names.filter((name) => !policy.isFailing?.(name));
    if (this.start(signal, others)) return true;
    if (!this.hasMore()) return false;
    // All that waits has failed: does the service answer at all?
    this.track(policy.probe?.() ?? Promise.resolve());
    return true;
  }

  /** How long nothing may be started, unless a request is done or the queue changes, ms; null: until then. */
  private waitMs(): number | null {
    const { policy, concurrency } = this.options;
    const { clock } = this.run;
    const places = this.inFlight.size;
    if (policy.outage) return places > 0 ? null : policy.outage.probeAtMs - clock.monotonicMs();
    // With all places of follow-ups taken nothing is due until one of them ends, or the queue changes.
    const mayBeDue = places < concurrency && this.followUps < this.mostFollowUps;
    const dueMs = mayBeDue && (places === 0 || !policy.ends) ? this.nextDueMs() : null;
    return dueMs === null ? null : dueMs - clock.nowMs();
  }

  private lease(names: readonly string[] = this.run.names): WorkItem | null {
    const { queue, clock, share } = this.run;
    return queue.lease(clock.nowMs(), names, share);
  }

  /** When an item is due that is not, epoch ms: one that failed, and unless the policy ends also a recheck. */
  private nextDueMs(): number | null {
    const { queue, names, share } = this.run;
    return this.options.policy.ends ? queue.nextRetryMs(names, share) : queue.nextDueMs(names, share);
  }

  private hasMore(): boolean {
    const item = this.lease();
    if (item) this.run.queue.unlease(item);
    return item !== null || this.nextDueMs() !== null;
  }

  /** Reads the next item of these resources. False: none is due, or it has to wait for a place. */
  private start(signal: AbortSignal, names: readonly string[]): boolean {
    const { queue } = this.run;
    const item = this.lease(names);
    if (!item) return false;
    const isFollowUp = !this.options.policy.ends && !isUrgent(item);
    if (isFollowUp && this.followUps >= this.mostFollowUps) {
      queue.unlease(item);
      return false;
    }
    this.followUps += Number(isFollowUp);
    const task = this.process(item, signal);
    this.track(item.kind === "list" ? task.then(this.options.afterPage) : task, () => {
      this.followUps -= Number(isFollowUp);
      queue.release(item);
    });
    return true;
  }

  private track(work: Promise<void>, after: () => void = () => undefined): void {
    const task = work.catch((error: unknown) => {
      if (error instanceof MirrorError && error.kind === "stopped") this.enter("draining");
      else this.fail(error);
    });
    this.inFlight.add(task);
    void task.finally(() => {
      this.inFlight.delete(task);
      after();
      this.notifier.notify();
    });
  }

  private async process(item: WorkItem, signal: AbortSignal): Promise<void> {
    const { run } = this;
    const { mirror, tally } = run;
    const { transport, policy } = this.options;
    const resource = run.selected.get(item.resource);
    if (!resource) return;
    const spent = run.setAside.spentReason(item);
    if (spent !== null) return applyWhenFree(run, () => run.queue.deadLetter(item, spent));
    if (item.kind !== "list" && run.setAside.isRefused(resource.name))
      return applyWhenFree(run, () => run.queue.holdRecords(resource.name, refusedInARow, run.share));
    let sentSeq = mirror.sequence.next();
    mirror.fences.begin(sentSeq);
    const onSent = () => {
      mirror.fences.end(sentSeq);
      sentSeq = mirror.sequence.next();
      mirror.fences.begin(sentSeq);
      tally.sent(item.kind);
      tally.requests.retried += Number(item.attempts > 0);
    };
    const read = requestFor(resource, item, run.listForms.get(resource.name)?.form);
    let requestId: string | null = null;
    try {
      // Only an event's own read uses the budget that is kept for events.
      const lane: Lane = item.lane === "webhook" && !isUrgent(item) ? "list" : item.lane;
      const request = { ...read, lane, once: true, signal, onSent };
      const sent = await transport.send(request);
      const { body } = sent;
      ({ requestId } = sent);
      const stamp = stampOf(run, { cause: causeOf(item), sentSeq, requestId });
      const answer = { run, resource, item, stamp };
      if (item.kind === "list" || item.kind === "child") await applyList(answer, body);
      else await applyTogether(run, () => applyDetail(answer, body));
      policy.succeeded(item);
      if (item.kind !== "list") run.setAside.answered(resource.name);
    } catch (thrown) {
      if (this.options.signal.aborted && this.failure === null) return;
      const error = thrown instanceof ContradictionError ? thrown.of(read, requestId) : thrown;
      const stamp = stampOf(run, { cause: causeOf(item), sentSeq, requestId: requestIdOf(error) });
      await this.judge({ run, resource, item, stamp }, error);
    } finally {
      mirror.fences.end(sentSeq);
    }
  }

  /** In the event worker an unforeseen error in here gives the item up, so that it does not block the others. */
  private async judge(answer: AnswerContext, error: unknown): Promise<void> {
    const { log } = this.run;
    const { policy } = this.options;
    const name = `${answer.item.resource} ${answer.item.target}`;
    const outcome = await policy.judge(error, answer.item);
    const handle = (failure: ItemFailure) =>
      applyWhenFree(this.run, () => handleFailure(answer, error, failure));
    const why = messageOf(error);
    if (outcome.kind === "retry" || outcome.kind === "postpone")
      log.warn(`${name}: the read failed and is made again`, { error: why, retry_in_ms: outcome.afterMs });
    else log.debug(`${name}: ${why}`, { outcome: outcome.kind });
    if (outcome.kind === "drain") return this.enter("draining");
    if (outcome.kind === "stop") return this.fail(outcome.because ?? error);
    try {
      await handle(outcome);
    } catch (unforeseen) {
      if (policy.ends || unforeseen instanceof MirrorError) throw unforeseen;
      log.error(`${name}: ${messageOf(unforeseen)}`);
      await handle({ kind: "dead" });
    }
  }
}

function causeOf({ lane, kind, reason }: WorkItem): Cause {
  if (reason === "repair") return "repair";
  if (lane === "webhook") return "webhook";
  if (kind === "confirm") return "confirm";
  return kind === "detail" ? "hydrate" : "sweep";
}
