import type { Clock } from "../base/clock.ts";
import { eitherSignal } from "../base/cancellation.ts";
import { assert, messageOf, MirrorError } from "../base/errors.ts";
import { laneRank, lanes } from "../base/lane.ts";
import { silentLog, type Log } from "../base/logger.ts";
import { Notifier } from "../base/notifier.ts";
import { WaitQueue } from "../base/semaphore.ts";
import { transportDefaults } from "../connector/transport.ts";
import { admit, budgetViewOf } from "./admission.ts";
import { seenLately } from "./foreign-use.ts";
import { applyLoss, defaultRules } from "./state.ts";
import type { Flight, RateLimitState, Rules, RateLimitStore } from "./state.ts";
import type { RateLimiter, Permit } from "./permit.ts";
import { applyAnswer } from "./budget-answers.ts";

/** Settings of `createRateLimiter`; rules that are not given are as in `defaultRules`. */
interface RateLimiterOptions extends Partial<Rules> {
  readonly store: RateLimitStore;
  readonly clock: Clock;
  /**
   * Requests of this process in flight at once. The others wait here, where a better lane still goes first.
   * @default transportDefaults.concurrency
   */
  readonly concurrency?: number;
  readonly log?: Log;
}

/** How often a waiting process looks whether another one changed the shared state. */
const pollMs = 200;
const longestSleepMs = 60_000;

/**
 * Decides when the next request may go.
 *
 * Guarantee: no request leaves without a permit, and never more permits are given than the service is known to
 * have left (I8). Source of truth: the store. Worst outcome of a crash: permits in use count as spent until
 * their deadlines.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { store, clock, log = silentLog, concurrency = transportDefaults.concurrency } = options;
  const rules: Rules = { ...defaultRules, ...options };
  const waiting = new WaitQueue<Permit>();
  const changed = new Notifier();
  let inFlight = 0;
  let serving = false;
  const wake = () => {
    if (serving) changed.notify();
  };

  const finish = (ending: FlightEnd) => {
    inFlight--;
    try {
      const nowMs = clock.monotonicMs();
      const [before, after] = store.transact((known) => {
        const state = ending(known, nowMs);
        return { state, result: [known, state] as const };
      });
      logChange(log, before, after, nowMs);
    } catch (error) {
      log.warn("the request budget of an answer could not be stored", { error: messageOf(error) });
    }
    wake();
  };

  /** Serves as many as may go. Returns when to look again at the latest. */
  const serveAll = (): number => {
    while (waiting.nextPriority !== null && inFlight < concurrency) {
      const lane = lanes[waiting.nextPriority] ?? "files";
      const nowMs = clock.monotonicMs();
      const admission = store.transact((state) => admit(state, lane, nowMs, rules));
      if ("untilMs" in admission) return admission.untilMs;
      inFlight++;
      waiting.serve(permitFor(admission.flight, finish, rules));
    }
    return Infinity;
  };

  const serve = async () => {
    if (serving) return;
    serving = true;
    try {
      for (let untilMs = serveAll(); waiting.size > 0; untilMs = serveAll()) {
        const sleepMs = Math.min(untilMs - clock.monotonicMs(), store.shared ? pollMs : longestSleepMs);
        await changed.wait({ clock, ms: Math.max(1, sleepMs) });
      }
    } catch (error) {
      waiting.rejectAll(error);
    } finally {
      serving = false;
    }
  };

  return {
    async admit(lane, signal) {
      const served = waiting.wait(laneRank(lane), signal);
      wake();
      void serve();
      const permit = await served;
      if (permit) return permit;
      throw new MirrorError("stopped", "stopped while waiting for leave to send a request");
    },
    view: () => budgetViewOf(store.read(), clock.monotonicMs(), rules),
  };
}

type FlightEnd = (state: RateLimitState, nowMs: number) => RateLimitState;

function permitFor(flight: Flight, finish: (ending: FlightEnd) => void, rules: Rules): Permit {
  let finished = false;
  const once = (ending: FlightEnd) => {
    assert(!finished, "a permit is finished once");
    finished = true;
    finish(ending);
  };
  return {
    answered: (status, headers) =>
      once((state, nowMs) => applyAnswer(state, flight, { ...headers, status, nowMs }, rules)),
    lost: (mayArrive) => once((state, nowMs) => applyLoss(state, flight, nowMs, mayArrive)),
  };
}

function logChange(log: Log, before: RateLimitState, after: RateLimitState, nowMs: number): void {
  if (after.refusals.inARow > before.refusals.inARow)
    log.warn("the service refused a request (429): waiting", {
      wait_ms: Math.round((after.refusals.pausedUntil ?? nowMs) - nowMs),
      in_a_row: after.refusals.inARow,
    });
  if (seenLately(after, nowMs) && !seenLately(before, nowMs))
    log.info("other programs use this company's request budget too: the reserve is left to them");
  if (after.limit !== before.limit) log.debug("the service states its limit", { limit: after.limit });
}

export interface RequestLimits {
  /** Permits in all; retries count too. */
  readonly mostRequests?: number;
  /** When it aborts, who waits is refused; requests in flight go on. */
  readonly closed?: AbortSignal;
}

/** The same rate limiter with limits of its own. Past them it rejects with a MirrorError of kind `stopped`. */
export function limitRequests(rateLimiter: RateLimiter, limits: RequestLimits): RateLimiter {
  const { mostRequests = Infinity, closed } = limits;
  let given = 0;
  return {
    view: () => rateLimiter.view(),
    admit: async (lane, signal) => {
      if (closed?.aborted || given >= mostRequests)
        throw new MirrorError("stopped", "the limit given for this run is reached", {
          hint: "Run again to go on: everything committed is kept.",
        });
      given += 1;
      try {
        return await rateLimiter.admit(lane, signal ? eitherSignal(signal, closed) : closed);
      } catch (error) {
        given -= 1;
        throw error;
      }
    },
  };
}
