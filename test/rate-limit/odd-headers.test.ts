import * as fc from "fast-check";
import { expect, test } from "vitest";
import { admit } from "../../src/rate-limit/admission.ts";
import { applyAnswer } from "../../src/rate-limit/budget-answers.ts";
import { decodeState, encodeState } from "../../src/state/budget-file.ts";
import { coldState, defaultRules } from "../../src/rate-limit/state.ts";
import type { BudgetAnswer, RateLimitState } from "../../src/rate-limit/state.ts";
import { startLimiter } from "../support/rate-limit/simulated-budget.ts";

const { windowMs, defaultLimit } = defaultRules;
const latencyMs = 50;
const longestWaitMs = 3 * windowMs;

const numbers = fc.constantFrom(null, 0, 1, 2, 119, 120, 121, 5_000, 999_999_999_999_999);
const oddAnswers = fc.array(
  fc.record({
    status: fc.constantFrom(200, 404, 429, 503),
    limit: numbers,
    remaining: numbers,
    retryAfterS: numbers,
    pauseMs: fc.integer({ min: 0, max: 30_000 }),
  }),
  { minLength: 1, maxLength: 60 },
);

/** Once 10^15 others were counted in a window, which took half of the budget for half an hour. */
const moreLeftThanEver: typeof oddAnswers extends fc.Arbitrary<infer T> ? T : never = [
  { status: 200, limit: 2, remaining: 1, retryAfterS: null, pauseMs: 10_562 },
  { status: 200, limit: null, remaining: 2, retryAfterS: null, pauseMs: 26_639 },
  { status: 200, limit: 999_999_999_999_999, remaining: 5_000, retryAfterS: null, pauseMs: 0 },
];

/** One budget that sends a request as soon as it may, and waits for its answer. */
class OneByOne {
  state: RateLimitState = coldState;
  nowMs = 0;

  /** Sends the next request; the answer comes after the latency. */
  send(answer: (nowMs: number) => Omit<BudgetAnswer, "nowMs">): void {
    const step = admit(this.state, "list", this.nowMs, defaultRules);
    if ("flight" in step.result) {
      this.nowMs += latencyMs;
      const given = { ...answer(this.nowMs), nowMs: this.nowMs };
      this.state = applyAnswer(step.state, step.result.flight, given, defaultRules);
      return;
    }
    const waitMs = step.result.untilMs - this.nowMs;
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(longestWaitMs);
    this.nowMs = step.result.untilMs;
    this.send(answer);
  }
}

/** Answers as the service counts; `refusedMs` are the times of its 429. */
function honestService() {
  const limiter = startLimiter({ ends: "exact", reports: "at_hit" }, defaultLimit, windowMs);
  const [refusedMs, servedMs] = [[] as number[], [] as number[]];
  const answer = (nowMs: number): Omit<BudgetAnswer, "nowMs"> => {
    const isServed = limiter.hit(nowMs, "own");
    (isServed ? servedMs : refusedMs).push(nowMs);
    const retryAfterS = isServed ? null : limiter.retryAfterS(nowMs);
    return {
      status: isServed ? 200 : 429,
      limit: defaultLimit,
      remaining: limiter.remaining(nowMs),
      retryAfterS,
    };
  };
  return { answer, refusedMs, servedMs };
}

// Fault: limiter | budget headers that are nonsense: limits of 0 and of 10^15, more left than the limit, long waits | answers to one budget, in any order | no wait without an end, a state that can be stored, and a full budget again once the headers are right
test("whatever the budget headers say, no wait is endless, and true headers bring the whole budget back (I8)", () => {
  fc.assert(
    fc.property(oddAnswers, (answers) => {
      const budget = new OneByOne();
      for (const { pauseMs, ...answer } of answers) {
        budget.send(() => answer);
        budget.nowMs += pauseMs;
        const here = { bootId: "boot", monotonicMs: budget.nowMs, wallMs: budget.nowMs };
        expect(decodeState(encodeState(budget.state, here), here)).not.toBeNull();
      }
      const { answer, refusedMs, servedMs } = honestService();
      const untilMs = budget.nowMs + 19 * windowMs;
      while (budget.nowMs < untilMs) budget.send(answer);
      const lastMs = untilMs - 2 * windowMs;
      expect(refusedMs.filter((atMs) => atMs > lastMs)).toEqual([]);
      expect(servedMs.filter((atMs) => atMs > lastMs).length).toBeGreaterThan(1.5 * defaultLimit);
    }),
    { numRuns: 100, examples: [[moreLeftThanEver]] },
  );
});
