import type { Random } from "../../../src/base/random.ts";
import { seededRandom } from "../seeded-random.ts";
import { SimulatedTime } from "../virtual/simulated-time.ts";
import { admit } from "../../../src/rate-limit/admission.ts";
import { applyAnswer } from "../../../src/rate-limit/budget-answers.ts";
import { applyLoss, coldState, defaultRules } from "../../../src/rate-limit/state.ts";
import type { Flight, RateLimitState, Rules } from "../../../src/rate-limit/state.ts";

/**
 * A service, a network and clients in simulated time, to compare with what the rate limiter assumes.
 * Nothing here knows how the rate limiter decides.
 */

/** When the service ends its window, and as of when it reports what remains. */
export interface LimiterKind {
  readonly ends: "exact" | "whole_seconds";
  readonly reports: "at_hit" | "at_answer";
}

export const limiterKinds: readonly LimiterKind[] = [
  { ends: "exact", reports: "at_answer" },
  { ends: "exact", reports: "at_hit" },
  { ends: "whole_seconds", reports: "at_answer" },
  { ends: "whole_seconds", reports: "at_hit" },
];

interface ServiceWindow {
  readonly openedAt: number;
  endsAt: number;
  own: number;
  others: number;
  refusedOwn: number;
  refusedOthers: number;
}

export type Limiter = ReturnType<typeof startLimiter>;

export function startLimiter(kind: LimiterKind, limit: number, windowMs: number) {
  const windows: ServiceWindow[] = [];
  const endOf = (atMs: number) =>
    kind.ends === "exact" ? atMs + windowMs : Math.floor(atMs / 1000) * 1000 + windowMs;
  const open = (atMs: number) => {
    const last = windows.at(-1);
    return last && atMs < last.endsAt ? last : null;
  };
  const opened = (atMs: number) => {
    const fresh = { openedAt: atMs, endsAt: endOf(atMs), own: 0, others: 0, refusedOwn: 0, refusedOthers: 0 };
    windows.push(fresh);
    return fresh;
  };
  return {
    windows: windows as readonly ServiceWindow[],
    hit(atMs: number, whose: "own" | "others"): boolean {
      const window = open(atMs) ?? opened(atMs);
      const full = window.own + window.others >= limit;
      if (!full) window[whose]++;
      else if (whose === "own") window.refusedOwn++;
      else window.refusedOthers++;
      return !full;
    },
    remaining(atMs: number): number {
      const window = open(atMs);
      return window ? limit - window.own - window.others : limit;
    },
    retryAfterS(atMs: number): number {
      const window = open(atMs);
      return window ? Math.floor(window.endsAt / 1000) - Math.floor(atMs / 1000) : 0;
    },
  };
}

export interface Scenario {
  readonly seed: number;
  readonly kind: LimiterKind;
  readonly durationMs: number;
  readonly latencyMs: readonly [number, number];
  readonly concurrency: number;
  readonly limit?: number;
  /** Share of answers that never arrive. */
  readonly loss?: number;
  /** Share of requests that are given up, and then counted. */
  readonly givenUp?: number;
  /** Share of answers without rate headers. */
  readonly silent?: number;
  /** Requests of others per second, spread at random. */
  readonly othersPerSecond?: number;
  readonly retryAfter?: boolean;
  /** Is there work at that time? Always, when not given. */
  readonly demand?: (atMs: number) => boolean;
  readonly rules?: Partial<Rules>;
  /** Used at the start: by others, or by us before the state begins. */
  readonly usedBefore?: number;
}

const lostAfterMs = 6_000;
const { windowMs } = defaultRules;

export type Outcome = ReturnType<typeof simulate>;

/** Runs a scenario to its end. Gives when own requests were sent, and when they were refused. */
export function simulate(scenario: Scenario) {
  const limit = scenario.limit ?? 120;
  const rules: Rules = { ...defaultRules, defaultLimit: limit, ...scenario.rules };
  const random = seededRandom(scenario.seed);
  const limiter = startLimiter(scenario.kind, limit, windowMs);
  const startedAt = 1_000_000 + random.next() * windowMs;
  const endedAt = startedAt + scenario.durationMs;
  const agenda = new SimulatedTime(0);
  const sentAt: number[] = [];
  const refusedAt: number[] = [];
  let state: RateLimitState = coldState;
  let wakeAt = Infinity;

  const ask = (nowMs: number) => {
    const wanted = nowMs < endedAt && (scenario.demand?.(nowMs) ?? true);
    if (!wanted) return idle(nowMs);
    while (state.flights.length < scenario.concurrency) {
      const admission = admit(state, "list", nowMs, rules);
      state = admission.state;
      if ("untilMs" in admission.result) return wake(admission.result.untilMs);
      sentAt.push(nowMs);
      send(admission.result.flight);
    }
  };
  const idle = (nowMs: number) => {
    if (nowMs < endedAt) wake(nowMs + 250);
  };
  const wake = (atMs: number) => {
    if (atMs >= wakeAt) return;
    wakeAt = atMs;
    agenda.at(atMs, () => {
      if (wakeAt === atMs) wakeAt = Infinity;
      ask(atMs);
    });
  };
  const send = (flight: Flight) => {
    if (scenario.givenUp && random.next() < scenario.givenUp) return giveUp(flight);
    const [hitAt, saidAt, receivedAt] = journey(flight.sentAt, scenario.latencyMs, random);
    agenda.at(hitAt, () => {
      const accepted = limiter.hit(hitAt, "own");
      const atHit = limiter.remaining(hitAt);
      agenda.at(saidAt, () => {
        const remaining = scenario.kind.reports === "at_hit" ? atHit : limiter.remaining(saidAt);
        const retryAfterS = scenario.retryAfter === false ? null : limiter.retryAfterS(saidAt);
        finish(flight, receivedAt, accepted, { remaining, retryAfterS });
      });
    });
  };
  const giveUp = (flight: Flight) => {
    const lostAt = flight.sentAt + lostAfterMs * random.next();
    agenda.at(lostAt, () => {
      state = applyLoss(state, flight, lostAt, true);
      ask(lostAt);
    });
    const hitAt = flight.sentAt + (flight.deadlineAt - flight.sentAt) * random.next();
    agenda.at(hitAt, () => {
      if (!limiter.hit(hitAt, "own")) refusedAt.push(hitAt);
    });
  };
  const finish = (
    flight: Flight,
    atMs: number,
    accepted: boolean,
    said: { remaining: number; retryAfterS: number | null },
  ) => {
    if (accepted && random.next() < (scenario.loss ?? 0)) {
      const noticedAt = flight.sentAt + lostAfterMs;
      agenda.at(noticedAt, () => {
        state = applyLoss(state, flight, noticedAt);
        ask(noticedAt);
      });
      return;
    }
    const silent = accepted && random.next() < (scenario.silent ?? 0);
    agenda.at(atMs, () => {
      if (!accepted) refusedAt.push(atMs);
      const headers = {
        limit: silent ? null : limit,
        remaining: silent ? null : accepted ? said.remaining : 0,
        retryAfterS: accepted ? null : said.retryAfterS,
      };
      const status = accepted ? 200 : 429;
      state = applyAnswer(state, flight, { ...headers, status, nowMs: atMs }, rules);
      ask(atMs);
    });
  };

  for (let i = 0; i < (scenario.usedBefore ?? 0); i++)
    limiter.hit(startedAt - random.next() * windowMs * 0.5, "others");
  for (const atMs of arrivals(scenario.othersPerSecond ?? 0, startedAt, endedAt, random))
    agenda.at(atMs, () => void limiter.hit(atMs, "others"));
  agenda.at(startedAt, () => ask(startedAt));
  const untilMs = endedAt + 60_000;
  agenda.at(untilMs, () => undefined);
  while (agenda.passedMs < untilMs) agenda.ring();
  return { windows: limiter.windows, state, sentAt, refusedAt, startedAt, endedAt };
}

/** When the service counts, answers, and the answer arrives: at random within the latency. */
function journey(
  sentAt: number,
  [low, high]: readonly [number, number],
  random: Random,
): [number, number, number] {
  const total = low + random.next() * (high - low);
  const cuts = [random.next(), random.next()].toSorted((a, b) => a - b);
  return [sentAt + total * (cuts[0] ?? 0), sentAt + total * (cuts[1] ?? 0), sentAt + total];
}

function arrivals(perSecond: number, fromMs: number, toMs: number, random: Random): number[] {
  const times: number[] = [];
  if (perSecond === 0) return times;
  for (let atMs = fromMs; atMs < toMs; atMs += (-Math.log(1 - random.next()) * 1000) / perSecond)
    times.push(atMs);
  return times;
}
