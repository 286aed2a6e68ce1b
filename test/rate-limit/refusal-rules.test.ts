import { describe, expect, test } from "vitest";
import { applyAnswer, accepted, easedCaution } from "../../src/rate-limit/budget-answers.ts";
import { defaultRules } from "../../src/rate-limit/state.ts";
import { aFlight, aState, aWindow, calm, openedLedger } from "../support/rate-limit/rate-limit.ts";

const refuse = (state = aState(), flight = aFlight(), nowMs = 300, retryAfterS: number | null = 1) =>
  applyAnswer(state, flight, { status: 429, limit: null, remaining: 0, retryAfterS, nowMs }, defaultRules);

const pauseOf = (deadAt: number) =>
  refuse(aState({ window: aWindow({ deadAt }) }), aFlight(), 300, null).refusals.pausedUntil;

describe("a refused request", () => {
  // Fault: limiter | 429 with a very long Retry-After | the rate limiter's state | asked again earlier
  test("waits for as long as it says and a second more, for two seconds at least and two windows at most", () => {
    const pauses = [0, 37, 1_000_000].map((s) => refuse(aState(), aFlight(), 300, s).refusals.pausedUntil);
    expect(pauses).toEqual([2_300, 38_300, 120_300]);
    const ledger = openedLedger();
    ledger.refuse(ledger.send(200), 300, 37);
    expect([ledger.nextAt(300), ledger.room(38_300)]).toEqual([38_300, 1]);
  });

  test("shows how much others took: what own requests did not", () => {
    const ledger = openedLedger();
    for (let i = 0; i < 50; i++) ledger.answer(ledger.send(200), 300, 118 - i);
    ledger.refuse(ledger.send(400), 500, 1);
    expect(ledger.state().window).toMatchObject({ foreign: 119 - 51 });
  });

  // Fault: limiter | 429 twice in a row | the rate limiter's state | one request at a time for a window
  test("twice in a row means one request at a time for a window", () => {
    const ledger = openedLedger();
    ledger.refuse(ledger.send(200), 300, 1);
    ledger.refuse(ledger.send(2_300), 2_400, 1);
    expect(ledger.nextAt(2_400)).toBe(4_400);
    const alone = ledger.send(4_400);
    expect(ledger.room(4_450)).toBe(0);
    ledger.answer(alone, 4_500, 119);
    expect(ledger.room(4_500)).toBe(1);
    expect(ledger.room(64_400)).toBeGreaterThan(1);
  });

  test("of a window that is over pauses two seconds, whatever it says, and changes no window", () => {
    const before = aState({ window: aWindow({ id: 2 }) });
    const after = refuse(before, aFlight({ windowId: 1 }), 300, 50);
    expect(after.refusals.pausedUntil).toBe(2_300);
    expect(after.window).toEqual(before.window);
  });

  test("never ends an earlier, longer pause", () => {
    const first = refuse(aState(), aFlight(), 300, 30);
    expect(refuse(first, aFlight({ sentAt: 400 }), 500, 1).refusals.pausedUntil).toBe(31_300);
  });

  test("is another one of the same burst if it was sent by the time the last one came", () => {
    const first = refuse();
    expect(refuse(first, aFlight({ sentAt: 300 }), 400).refusals.inARow).toBe(1);
    expect(first.refusals.serialUntil).toBeNull();
    const second = refuse(first, aFlight({ sentAt: 301 }), 400).refusals;
    expect(second).toMatchObject({ inARow: 2, serialUntil: 62_400 });
  });

  // Fault: limiter | 429 without Retry-After | the rate limiter's state | nothing is sent until the window has surely ended
  test("without Retry-After waits two seconds at least, and a whole window where this one is over", () => {
    expect([pauseOf(301), pauseOf(2_400), pauseOf(300)]).toEqual([2_300, 2_400, 60_400]);
  });

  test("means that nothing is left until the pause ends, and the window with it", () => {
    expect(refuse().window).toMatchObject({ lowest: 0, lowestAt: 300, aliveUntil: 2_300, deadAt: 2_300 });
    const sooner = aState({ window: aWindow({ aliveUntil: 1_000 }) });
    expect(refuse(sooner).window?.aliveUntil).toBe(1_000);
  });

  test.each([
    [120, [2, 4, 8, 16, 30, 30]],
    [10, [2, 2]],
  ])("of a limit of %i doubles the caution, up to a quarter of the limit", (limit, expected) => {
    let state = aState({ limit });
    const cautions = expected.map((_, i) => {
      state = refuse(state, aFlight({ sentAt: 1_000 * i + 1 }), 1_000 * i + 2);
      return state.refusals.caution;
    });
    expect(cautions).toEqual(expected);
  });
});

describe("an accepted request", () => {
  test("ends the row only if it was sent after the last refusal came", () => {
    const refusals = { ...calm, inARow: 3, lastAt: 500 };
    expect(accepted(refusals, aFlight({ sentAt: 500 })).inARow).toBe(3);
    expect(accepted(refusals, aFlight({ sentAt: 501 }))).toEqual({ ...refusals, inARow: 0 });
  });

  test("changes nothing where no row is", () => {
    const refusals = { ...calm, lastAt: 500 };
    expect(accepted(refusals, aFlight({ sentAt: 600 }))).toBe(refusals);
  });
});

const cautionAt = (nowMs: number, caution: number) =>
  easedCaution({ ...calm, caution, lastAt: 1_000 }, nowMs, defaultRules).caution;

describe("caution", () => {
  test("is halved by a window that opens two windows after the last refusal, not sooner", () => {
    expect([cautionAt(120_999, 8), cautionAt(121_000, 8)]).toEqual([8, 4]);
    expect([cautionAt(121_000, 9), cautionAt(121_000, 1), cautionAt(121_000, 0)]).toEqual([4, 0, 0]);
  });

  test("without a known refusal stays", () => {
    expect(easedCaution({ ...calm, caution: 5 }, 1e9, defaultRules).caution).toBe(5);
  });
});
