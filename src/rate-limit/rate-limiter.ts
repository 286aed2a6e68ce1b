import type { Clock } from "../base/clock.ts";
import { assert, messageOf } from "../base/errors.ts";
import type { Lane } from "../base/lane.ts";
import { silentLog, type Log } from "../base/logger.ts";
import { admit, type Admission } from "./admission.ts";
import { createAlarm } from "./timer.ts";
import { lost } from "./in-flight.ts";
import type { BudgetHeaders, RateLimiter, Permit } from "./permit.ts";
import { answered } from "./learning.ts";
import { coldState, defaultRules, type Flight, type RateLimitState, type Rules } from "./state.ts";
import type { RateLimitStore } from "./state-store.ts";
import { viewOf } from "./budget-view.ts";
import { createWaiters } from "./permit-queue.ts";

export interface GovernorOptions {
  readonly store: RateLimitStore;
  readonly clock: Clock;
  readonly reserveShare?: number;
  /** Of the limit, for lane `webhook` alone; 0 when not given. */
  readonly eventShare?: number;
  readonly windowMs?: number;
  readonly defaultLimit?: number;
  /** Requests of this process under way at once; the rest waits here, so that a better lane still goes first. */
  readonly concurrency?: number;
  /** A permit unanswered for this long is lost: more than the deadline of an attempt. */
  readonly permitMs?: number;
  readonly log?: Log;
}

/** How often a waiting process looks whether another one changed the shared state. */
const pollMs = 200;

/**
 * Guarantee: no request leaves without a permit, and permits never exceed what the service was heard to
 * have left. Source of truth: the store. A crash leaves its permits to their deadlines; they count as spent.
 */
export function createRateLimiter(options: GovernorOptions): RateLimiter {
  const { store, clock, log = silentLog, concurrency = 6 } = options;
  const rules = rulesOf(options);
  const waiters = createWaiters<Permit>();
  const alarm = createAlarm(clock);
  let underWay = 0;
  let serving = false;

  const settle = (step: (state: RateLimitState, nowMs: number) => RateLimitState) => {
    underWay--;
    try {
      const [before, after] = change(store, (state) => step(state, clock.monotonicMs()));
      tell(log, before, after, clock.monotonicMs());
    } catch (error) {
      log.warn("an answer's word on the request budget could not be stored", { error: messageOf(error) });
    }
    alarm.ring();
  };

  /** Serves as many as may go; says when to look again. */
  const serveAll = (): number => {
    for (let lane = waiters.first(); lane && underWay < concurrency; lane = waiters.first()) {
      const { decision } = askFor(store, lane, clock.monotonicMs(), rules);
      if ("untilMs" in decision) return decision.untilMs;
      underWay++;
      waiters.serveFirst(permitFor(decision.flight, settle, rules));
    }
    return Infinity;
  };

  const serve = async () => {
    if (serving) return;
    serving = true;
    try {
      for (let untilMs = serveAll(); waiters.size() > 0; untilMs = serveAll())
        await alarm.sleepUntil(store.shared ? Math.min(untilMs, clock.monotonicMs() + pollMs) : untilMs);
    } catch (error) {
      waiters.refuse(error);
    } finally {
      serving = false;
    }
  };

  return {
    admit(lane, signal) {
      const permit = waiters.join(lane, signal);
      alarm.ring();
      void serve();
      return permit;
    },
    view: () => viewOf(store.read() ?? coldState, clock.monotonicMs(), rules),
  };
}

function rulesOf(options: GovernorOptions): Rules {
  const { reserveShare, eventShare, windowMs, defaultLimit, permitMs } = options;
  return {
    ...defaultRules,
    ...(reserveShare !== undefined && { reserveShare }),
    ...(eventShare !== undefined && { eventShare }),
    ...(windowMs !== undefined && { windowMs }),
    ...(defaultLimit !== undefined && { defaultLimit }),
    ...(permitMs !== undefined && { permitMs }),
  };
}

function askFor(store: RateLimitStore, lane: Lane, nowMs: number, rules: Rules): Admission {
  return store.transact((known) => {
    const admission = admit(known ?? coldState, lane, nowMs, rules);
    return { state: admission.state, result: admission };
  });
}

function change(store: RateLimitStore, step: (state: RateLimitState) => RateLimitState) {
  return store.transact((known) => {
    const before = known ?? coldState;
    const state = step(before);
    return { state, result: [before, state] as const };
  });
}

type Settle = (step: (state: RateLimitState, nowMs: number) => RateLimitState) => void;

function permitFor(flight: Flight, settle: Settle, rules: Rules): Permit {
  let settled = false;
  const once = (step: (state: RateLimitState, nowMs: number) => RateLimitState) => {
    assert(!settled, "a permit is settled once");
    settled = true;
    settle(step);
  };
  return {
    answered: (status: number, headers: BudgetHeaders) =>
      once((state, nowMs) => answered(state, flight, nowMs, status, headers, rules)),
    lost: () => once((state, nowMs) => lost(state, flight, nowMs)),
  };
}

function tell(log: Log, before: RateLimitState, after: RateLimitState, nowMs: number): void {
  if (after.refusals.inARow > before.refusals.inARow)
    log.warn("the service refused a request (429): waiting", {
      wait_ms: Math.round((after.refusals.pausedUntil ?? nowMs) - nowMs),
      in_a_row: after.refusals.inARow,
    });
  if (after.others.until !== null && (before.others.until ?? 0) < nowMs)
    log.info("other clients use this company's request budget too: leaving them the reserve");
  if (after.limit !== before.limit) log.debug("the service states its limit", { limit: after.limit });
}
