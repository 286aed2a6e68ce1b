import { describe, expect, test } from "vitest";
import { admit, budgetViewOf } from "../../src/rate-limit/admission.ts";
import { applyAnswer } from "../../src/rate-limit/budget-answers.ts";
import { grantedPerWindow, heldBack, keptForLook, othersAfter } from "../../src/rate-limit/foreign-use.ts";
import { applyLoss, coldState, defaultRules } from "../../src/rate-limit/state.ts";
import type { Flight, RateLimitState } from "../../src/rate-limit/state.ts";
import {
  aFlight,
  aState,
  aWindow,
  calm,
  openedLedger,
  openLedger,
} from "../support/rate-limit/rate-limit.ts";

const rules = defaultRules;
const report = (
  state: RateLimitState,
  flight: Flight,
  remaining: number | null,
  nowMs = flight.sentAt + 100,
  limit: number | null = null,
) => applyAnswer(state, flight, { status: 200, limit, remaining, retryAfterS: null, nowMs }, rules);
const opener = (sentAt: number) => aFlight({ id: 9, sentAt, opener: true, ceiling: 119 });

test.each([
  [1, 1],
  [0, 50],
])("an answer that says a limit of %s leaves one of %i", (stated, known) => {
  expect(report(aState({ limit: 50 }), aFlight(), 10, 300, stated).limit).toBe(known);
});

test("an answer that says that less than nothing is left says as much as one without it", () => {
  expect(report(aState(), aFlight(), -1)).toEqual(report(aState(), aFlight(), null));
});

test("a window that was partly used before leaves others their reserve, who may have used it", () => {
  const inherited = aState({ window: aWindow({ inherited: true }) });
  expect(heldBack(inherited, "list", 0, rules)).toBe(12);
  expect(heldBack(aState(), "list", 0, rules)).toBe(0);
});

test("a report of a request that was sent in an earlier window neither opens one nor prolongs this one, and raises nothing", () => {
  const window = aWindow({ id: 2, first: 119, lowest: 110, issued: 20 });
  const earlier = aFlight({ windowId: 1, sentAt: 59_500, ceiling: 0 });
  for (const remaining of [115, 105])
    expect(report(aState({ window }), earlier, remaining, 59_900).window).toEqual({
      ...window,
      lowest: Math.min(110, remaining),
      lowestAt: remaining < 110 ? 59_900 : window.lowestAt,
    });
});

test("the last look is kept again once others were not seen lately, however much they took", () => {
  const left = aState({ others: { perWindow: 31, until: 100 } });
  const window = aWindow();
  expect([99, 100].map((nowMs) => keptForLook(left, window, nowMs, rules))).toEqual([false, true]);
});

const reportedAt = (nowMs: number) => report(aState(), aFlight({ sentAt: 58_000, ceiling: 100 }), 110, nowMs);

describe("an answer that opens a window", () => {
  test("explains what is spent by late requests, those in flight and its own; the rest is of others", () => {
    const late = [100, 60_200, 60_300].map((endedAt) => ({ sentAt: 90, endedAt }));
    const state = aState({ late, flights: [aFlight({ id: 3 }), aFlight({ id: 4 })] });
    expect(report(state, opener(60_200), 100)).toMatchObject({
      window: { id: 2, first: 100, foreign: 14, inherited: false, spent: [60_200, 60_300], issued: 4 },
      others: { perWindow: 0, until: 660_300 },
      late: [],
    });
  });

  test.each([
    [119, 0, null],
    [118, 1, 660_600],
  ])("with %i left counts %i of others", (remaining, foreign, until) => {
    const after = report(aState(), opener(60_500), remaining);
    expect(after.window).toMatchObject({ id: 2, foreign, inherited: false });
    expect(after.others.until).toBe(until);
  });

  test.each([
    [119, false],
    [118, true],
  ])("as the first of all, with %i left, takes the rest for its own use", (remaining, inherited) => {
    expect(report(coldState, opener(500), remaining).window).toMatchObject({ id: 1, foreign: 0, inherited });
  });

  test("knows when it opened: with its own request, with an earlier one in flight, or with others", () => {
    const inFlight = aState({ flights: [aFlight({ id: 3, sentAt: 60_100 })] });
    const aliveUntil = (remaining: number) => report(inFlight, opener(60_500), remaining).window?.aliveUntil;
    expect([aliveUntil(119), aliveUntil(118), aliveUntil(100)]).toEqual([119_500, 119_100, 118_000]);
  });

  test("may do so from the moment the last one can have ended, not before", () => {
    expect([reportedAt(58_999).window?.id, reportedAt(59_000).window?.id]).toEqual([1, 2]);
    // Its own request must have cost one.
    expect(report(aState(), aFlight({ sentAt: 59_950, ceiling: 119 }), 119).window?.id).toBe(2);
  });
});

const proven = (remaining: number) => {
  const after = report(aState(), aFlight({ sentAt: 59_500, ceiling: 120 }), remaining);
  return [after.window?.aliveUntil, after.late.length];
};

describe("an answer within a window", () => {
  const low = aState({ window: aWindow({ lowest: 50, lowestAt: 1_000 }) });

  test.each([
    [1_001, 50, { lowest: 50, lowestAt: 2_000 }],
    [1_001, 60, { lowest: 60, lowestAt: 2_000 }],
    [1_000, 60, { lowest: 50, lowestAt: 1_000 }],
    [900, 50, { lowest: 50, lowestAt: 1_000 }],
  ])("sent at %i with %i left", (sentAt, remaining, expected) => {
    expect(report(low, aFlight({ sentAt, ceiling: 50 }), remaining, 2_000).window).toMatchObject(expected);
  });

  test("includes what was spent before it was sent", () => {
    const state = aState({ window: aWindow({ spent: [100, 200, 300] }) });
    expect(report(state, aFlight({ sentAt: 200 }), 90).window?.spent).toEqual([200, 300]);
  });

  test("shows by little left that the window lived when it was sent", () => {
    const late = [59_200, 59_500, 59_550].map((endedAt) => ({ sentAt: 90, endedAt }));
    const after = report(aState({ late }), aFlight({ sentAt: 59_500 }), 100);
    expect(after.window?.aliveUntil).toBe(59_500);
    expect(after.late.map(({ endedAt }) => endedAt)).toEqual([59_500, 59_550]);
  });

  test("shows by little left nothing while others are seen, who may have taken it of a new window", () => {
    const state = aState({ others: { perWindow: 12, until: 300_000 } });
    expect(report(state, aFlight({ sentAt: 59_500 }), 100).window?.aliveUntil).toBe(59_000);
  });

  test("that a new window could have counted as well proves nothing and is remembered", () => {
    expect([proven(118), proven(119)]).toEqual([
      [59_500, 0],
      [59_000, 1],
    ]);
    const crowded = aState({ late: [{ sentAt: 90, endedAt: 59_550 }], flights: [aFlight({ id: 3 })] });
    const last = aFlight({ sentAt: 59_500, ceiling: 120 });
    const aliveUntil = (remaining: number) => report(crowded, last, remaining).window?.aliveUntil;
    expect([aliveUntil(116), aliveUntil(117)]).toEqual([59_500, 59_000]);
  });

  test("with a full budget ends it, if it counted the request", () => {
    expect(report(aState(), aFlight({ sentAt: 200 }), 120, 300).window?.deadAt).toBe(300);
    expect(report(aState({ window: aWindow({ id: 2 }) }), aFlight(), 120, 300).window?.deadAt).toBe(60_100);
    expect(report(coldState, aFlight(), 120, 300).window).toBeNull();
  });
});

test.each([
  [116, 116],
  [115, 118],
])("an answer of before a window counts with %i left only if own requests left them", (remaining, lowest) => {
  const rolled = aState({ window: aWindow({ id: 2, lowest: 118, issued: 3 }) });
  const late = aFlight({ windowId: 1, sentAt: 59_000 });
  expect(report(rolled, late, remaining, 60_400).window?.lowest).toBe(lowest);
});

const lateAt = (nowMs: number) => applyLoss(aState(), aFlight(), nowMs).late.length;

test("a request lost when its window may have ended can be in the next one", () => {
  expect([lateAt(58_999), lateAt(59_000)]).toEqual([0, 1]);
});

const averageAfter = (lowestAt: number, foreign = 0) =>
  othersAfter(
    aState({ window: aWindow({ lowestAt, foreign }), others: { perWindow: 5, until: null } }),
    rules,
  ).perWindow;

describe("other programs", () => {
  const seen = aState({
    limit: 15,
    others: { perWindow: 31, until: 100 },
    refusals: { ...calm, caution: 1 },
  });

  test("are left their reserve and what they take until it is seen; events use the reserve", () => {
    expect([heldBack(seen, "list", 99, rules), heldBack(seen, "webhook", 99, rules)]).toEqual([5, 3]);
    expect(heldBack(seen, "list", 100, rules)).toBe(1);
    expect([grantedPerWindow(seen, 99, rules), grantedPerWindow(seen, 100, rules)]).toEqual([13, 15]);
  });

  test("are left half of the limit at most", () => {
    expect(heldBack(aState({ limit: 5, refusals: { ...calm, caution: 9 } }), "list", 0, rules)).toBe(2);
  });

  test("take half as much after a window that was looked at late enough, but what it showed at least", () => {
    expect([
      averageAfter(57_999),
      averageAfter(58_000),
      averageAfter(58_000, 4),
      averageAfter(57_999, 9),
    ]).toEqual([5, 2, 4, 9]);
  });

  test.each([
    [20, 0, null, true],
    [19, 0, null, false],
    [20, 1, 1e6, true],
    [20, 2, 1e6, false],
  ])("of a limit of %i take %i, seen until %s: a look is kept: %s", (limit, perWindow, until, isKept) => {
    const state = aState({ limit, others: { perWindow, until } });
    expect(keptForLook(state, aWindow(), 57_999, rules)).toBe(isKept);
    expect(keptForLook(state, aWindow(), 58_000, rules)).toBe(false);
  });
});

const nextAt = (
  window: Partial<ReturnType<typeof aWindow>>,
  more: Partial<RateLimitState> = {},
  own = rules,
) => {
  const state = aState({ window: aWindow({ aliveUntil: 0, deadAt: own.windowMs, ...window }), ...more });
  const { result } = admit(state, "list", 0, own);
  return "untilMs" in result ? result.untilMs : "now";
};

describe("a window that may end any moment", () => {
  test("is probed as often as it has permits that are not held back", () => {
    expect(nextAt({ first: 6, lowest: 6 }, { refusals: { ...calm, caution: 2 } })).toBe(1);
    expect(nextAt({ first: 6, lowest: 5 }, { refusals: { ...calm, caution: 2 } })).toBe(15_001);
    expect(nextAt({ first: 1, lowest: 2 }, { refusals: { ...calm, caution: 1 } })).toBe(1);
  });

  test("is probed twelve times at most, and every five seconds at most", () => {
    expect(nextAt({ first: 119, lowest: 12 })).toBe(1);
    expect(nextAt({ first: 119, lowest: 3 }, {}, { ...rules, windowMs: 30_000 })).toBe(15_001);
  });
});

test("requests that can have filled the next window are waited for", () => {
  const state = { ...coldState, limit: 2, late: [{ sentAt: 50, endedAt: 100 }], flights: [aFlight()] };
  expect(admit(state, "list", 400, rules).result).toEqual({ untilMs: 60_200 });
  expect(admit({ ...state, limit: 3 }, "list", 400, rules).result).toHaveProperty("flight");
  expect(admit(state, "list", 60_200, rules).result).toHaveProperty("flight");
});

test("a request without a window carries none", () => {
  const { state, result } = admit(coldState, "list", 7, rules);
  const flight = { id: 1, sentAt: 7, deadlineAt: 90_007, opener: true, windowId: 0, ceiling: 0 };
  expect(result).toEqual({ flight });
  expect(state).toMatchObject({ nextId: 2, flights: [flight] });
});

test("people read when the next request may go, in whole milliseconds", () => {
  const paused = aState({ refusals: { ...calm, pausedUntil: 1_000.5 } });
  expect(budgetViewOf(paused, 1_000, rules)).toMatchObject({ waitMs: 1, remaining: 119 });
  expect(budgetViewOf(aState(), 1_000, rules).waitMs).toBe(0);
});

describe("a cold start", () => {
  test("that finds nothing left waits for the end of the window at the latest", () => {
    const ledger = openLedger();
    ledger.answer(ledger.send(0), 100, 0);
    expect(ledger.room(100)).toBe(0);
    expect(ledger.nextAt(100)).toBe(60_200);
  });

  test("whose opener is never answered sends the next one after a while", () => {
    const ledger = openLedger();
    ledger.send(0);
    expect(ledger.nextAt(10)).toBe(10_000);
    expect(ledger.room(10_000)).toBe(1);
  });
});

describe("within a window", () => {
  // Fault: limiter | answers arrive in another order | the rate limiter's state | no new window is assumed
  test("a reordered answer never opens a new window", () => {
    const ledger = openedLedger({ defaultLimit: 10 });
    const [slow, fast] = [ledger.send(200), ledger.send(210)];
    ledger.answer(fast, 300, 7);
    const before = ledger.state().window;
    ledger.answer(slow, 59_900, 8);
    expect(ledger.state().window).toMatchObject({ id: before?.id, deadAt: before?.deadAt, lowest: 7 });
  });

  // Fault: limiter | an answer is lost within a window | the rate limiter's state | it counts as spent until a report includes it
  test("a lost answer counts as spent until a later report includes it", () => {
    const ledger = openedLedger();
    ledger.lose(ledger.send(200), 500);
    expect(ledger.room(500)).toBe(118);
    ledger.answer(ledger.send(600), 700, 117);
    expect(ledger.room(700)).toBe(117);
  });

  // Fault: limiter | a request arrives after its process gave it up, or ended | the rate limiter's state | it counts as spent until its deadline, whatever is reported before
  test("a request that nobody waits for any more counts until its deadline: the service may count it late", () => {
    const ledger = openedLedger({ permitMs: 30_000 });
    ledger.lose(ledger.send(200), 500, true);
    ledger.answer(ledger.send(600), 700, 118);
    expect(ledger.room(700)).toBe(117);
    ledger.answer(ledger.send(30_100), 30_300, 117);
    expect(ledger.room(30_300)).toBe(116);
    ledger.answer(ledger.send(30_300), 30_400, 116);
    expect(ledger.room(30_400)).toBe(116);
  });

  test("a permit that is never finished is lost at its deadline, even of a process that died", () => {
    const ledger = openedLedger({ permitMs: 5_000 });
    for (let i = 0; i < 119; i++) ledger.send(200);
    expect(ledger.nextAt(200)).toBe(5_200);
    expect(ledger.room(5_200)).toBe(0);
    expect(ledger.nextAt(5_200)).toBe(60_200);
    expect(ledger.state().flights.length).toBe(119);
    expect(ledger.room(60_200)).toBe(1);
  });
});

// Fault: limiter | the service sends no budget headers | the rate limiter's state | one request at a time, never above the default limit
test("the service's statements win: a service without budget headers is asked one by one, and never more often than the default limit", () => {
  const ledger = openLedger({ defaultLimit: 3 });
  for (let i = 0; i < 3; i++) {
    expect(ledger.room(i * 100)).toBe(1);
    ledger.answer(ledger.send(i * 100), i * 100 + 50, null);
  }
  expect(ledger.room(300)).toBe(0);
  expect(ledger.nextAt(300)).toBe(250 + 60_100);
});
