import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import type { Lane } from "../../src/base/lane.ts";
import { createRateLimiter, limitRequests } from "../../src/rate-limit/rate-limiter.ts";
import type { RateLimiter, Permit } from "../../src/rate-limit/permit.ts";
import { createMemoryRateLimitStore, type RateLimitStore, type Rules } from "../../src/rate-limit/state.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { stubLog } from "../support/http/http-client.ts";
import { limiterKinds, simulate, type Scenario } from "../support/rate-limit/simulated-budget.ts";
import { openedLedger } from "../support/rate-limit/rate-limit.ts";

const silent = { limit: null, remaining: null, retryAfterS: null };
const left = (remaining: number) => ({ limit: null, remaining, retryAfterS: null });

type RateLimiterOptions = Parameters<typeof createRateLimiter>[0];

function startRateLimiter(options: Partial<RateLimiterOptions> = {}) {
  const clock = new DrivenClock();
  const log = stubLog();
  const store = createMemoryRateLimitStore();
  const rateLimiter = createRateLimiter({ store, clock, log, defaultLimit: 10, ...options });
  return { clock, log, store, rateLimiter };
}

/** Asks, and notes who was served in which order. */
function asking(rateLimiter: RateLimiter) {
  const served: string[] = [];
  const permits = new Map<string, Permit>();
  const ask = (name: string, lane: Lane = "list", signal?: AbortSignal) => {
    const asked = rateLimiter.admit(lane, signal).then((permit) => {
      served.push(name);
      permits.set(name, permit);
      return permit;
    });
    asked.catch(() => undefined);
    return asked;
  };
  return {
    served,
    ask,
    answer: (name: string, remaining: number) => permits.get(name)?.answered(200, left(remaining)),
  };
}

/** A window of which only `remaining` are left. */
async function openedWith(remaining: number, options: Partial<RateLimiterOptions> = {}) {
  const parts = startRateLimiter({ defaultLimit: remaining + 1, ...options });
  const opener = await parts.rateLimiter.admit("list");
  await parts.clock.advance(100);
  opener.answered(200, { limit: remaining + 1, remaining, retryAfterS: null });
  return { ...parts, ...asking(parts.rateLimiter) };
}

describe("a waiting caller is served", () => {
  test("by lane, then first come, first served", async () => {
    const { clock, served, ask } = await openedWith(1, { concurrency: 20 });
    void ask("first");
    await clock.advance(0);
    for (const lane of ["files", "list", "hydration", "webhook", "list", "scrub"] as const)
      void ask(lane, lane);
    for (let i = 0; i < 20; i++) await clock.advance(61_000);
    expect(served).toEqual(["first", "webhook", "list", "list", "hydration", "scrub", "files"]);
  });

  test("when the window ends, to the millisecond, without polling before", async () => {
    const { clock, served, ask, answer } = await openedWith(1);
    void ask("last");
    await clock.advance(100);
    answer("last", 0);
    void ask("next");
    void ask("after");
    await clock.advance(59_999);
    expect(served).toEqual(["last"]);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(served).toEqual(["last", "next"]);
    expect(clock.sleeping).toBe(1);
  });

  test("no more at once than the concurrency, so that a better lane still goes first", async () => {
    const { clock, served, ask, answer } = await openedWith(50, { concurrency: 2 });
    for (const name of ["a", "b", "c"]) void ask(name, "files");
    void ask("event", "webhook");
    await clock.advance(0);
    expect(served).toHaveLength(2);
    answer(served[0] ?? "", 49);
    await clock.advance(0);
    expect(served).toContain("event");
    expect(served).toHaveLength(3);
  });
});

// Fault: process | a caller stops while it waits for a permit | its signal | it takes no permit
test("a caller that stops waiting is rejected at once with a MirrorError of kind stopped, and takes no permit", async () => {
  const { clock, ask, rateLimiter, answer, served } = await openedWith(1);
  void ask("last");
  const stop = new AbortController();
  const waiting = ask("impatient", "list", stop.signal);
  void ask("patient");
  await clock.advance(100);
  answer("last", 0);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ kind: "stopped" });
  await clock.advance(61_000);
  expect(served).toEqual(["last", "patient"]);
  expect(rateLimiter.view().remaining).toBeNull();
  await expect(rateLimiter.admit("list", AbortSignal.abort())).rejects.toMatchObject({ kind: "stopped" });
});

describe("a permit", () => {
  test("is finished once", async () => {
    const { rateLimiter } = startRateLimiter();
    const permit = await rateLimiter.admit("list");
    permit.answered(200, left(9));
    expect(() => permit.lost()).toThrow("a permit is finished once");
  });

  // Fault: disk | the budget cannot be stored | the budget's store | the answer is used, and others get their permits
  test("whose end cannot be stored does not break the answer, and others still get theirs", async () => {
    const memory = createMemoryRateLimitStore();
    let full = false;
    const store: RateLimitStore = {
      ...memory,
      transact: (step) => {
        if (full) throw new Error("disk full");
        return memory.transact(step);
      },
    };
    const { rateLimiter, clock, log } = startRateLimiter({ store });
    const permit = await rateLimiter.admit("list");
    full = true;
    permit.answered(200, left(9));
    full = false;
    expect(log.lines.map(({ message }) => message)).toEqual([
      "the request budget of an answer could not be stored",
    ]);
    const { served, ask } = asking(rateLimiter);
    void ask("next");
    await clock.advance(100_000);
    expect(served).toEqual(["next"]);
  });

  test("that the store cannot give is an error for the caller", async () => {
    const store = {
      ...createMemoryRateLimitStore(),
      transact: () => {
        throw new MirrorError("database", "no");
      },
    };
    const { rateLimiter } = startRateLimiter({ store });
    await expect(rateLimiter.admit("list")).rejects.toMatchObject({ kind: "database" });
    await expect(rateLimiter.admit("list")).rejects.toMatchObject({ kind: "database" });
  });
});

describe("the view of the budget", () => {
  test("in a window, and when it is used up", async () => {
    const { clock, rateLimiter, ask, answer } = await openedWith(2);
    expect(rateLimiter.view()).toEqual({ limit: 3, granted: 3, remaining: 2, waitMs: 0 });
    void ask("a");
    void ask("b");
    await clock.advance(0);
    expect(rateLimiter.view()).toMatchObject({ remaining: 0 });
    answer("a", 1);
    answer("b", 0);
    await clock.advance(30_000);
    expect(rateLimiter.view()).toEqual({ limit: 3, granted: 3, remaining: 0, waitMs: 30_100 });
  });

  test("a refusal is logged once, and so are other programs each time they come", async () => {
    const { rateLimiter, log, clock } = startRateLimiter();
    (await rateLimiter.admit("list")).answered(429, { ...silent, retryAfterS: 3 });
    expect(log.lines).toMatchObject([
      {
        level: "warn",
        message: "the service refused a request (429): waiting",
        fields: { wait_ms: 4_000, in_a_row: 1 },
      },
      { level: "info", message: expect.stringContaining("other programs") as string },
    ]);
    const others = () => log.lines.filter(({ message }) => message.includes("other programs"));
    const answered = async (afterMs: number, remaining: number) => {
      const permit = rateLimiter.admit("list");
      await clock.advance(afterMs);
      (await permit).answered(200, left(remaining));
    };
    await answered(4_000, 3);
    expect(others()).toHaveLength(1);
    // The reserve of a tenth is theirs.
    expect(rateLimiter.view().granted).toBe(9);
    await clock.advance(660_000);
    for (const remaining of [9, 8, 7]) await answered(100, remaining);
    expect([others().length, rateLimiter.view().granted]).toEqual([1, 10]);
    await answered(100, 2);
    expect(others()).toHaveLength(2);
  });
});

const kinds = fc.constantFrom(...limiterKinds);
const seeds = fc.integer({ min: 0, max: 1_000_000 });
const latencies = fc.constantFrom<[number, number]>([5, 3_000], [30, 300], [1, 5], [1_000, 3_000], [5, 20]);

const usual = { latencyMs: [30, 300], concurrency: 6, durationMs: 600_000 } as const;
/** A share of the budget is kept for events. */
const awaited = { eventShare: 0.1 };

/** Demand that comes and goes, so that windows end at every degree of use. */
const demands = fc.option(
  fc.record({
    periodMs: fc.integer({ min: 1_000, max: 90_000 }),
    share: fc.double({ min: 0.3, max: 1, noNaN: true }),
  }),
);

function demandOf(shape: { periodMs: number; share: number } | null): Pick<Scenario, "demand"> {
  return shape ? { demand: (atMs) => (atMs % shape.periodMs) / shape.periodMs < shape.share } : {};
}

/** Windows that opened and ended while there was demand. */
function fullWindows({ windows, endedAt }: ReturnType<typeof simulate>) {
  return windows.filter(({ endsAt }) => endsAt < endedAt);
}

describe("I8: alone on the company", () => {
  // Fault: limiter | latency, reordered and lost answers, requests counted after they were given up, any demand | simulated limiters of every kind | never a 429 while alone (I8)
  test("never a 429, whatever the limiter, latency, order, loss and demand", () => {
    const scenarios = fc.record({
      seed: seeds,
      kind: kinds,
      latencyMs: latencies,
      concurrency: fc.constantFrom(1, 2, 6, 20, 150),
      limit: fc.constantFrom(1, 2, 5, 20, 120),
      loss: fc.constantFrom(0, 0, 0.02, 0.3),
      givenUp: fc.constantFrom(0, 0, 0.02, 0.3),
      silent: fc.constantFrom(0, 0, 0.05, 1),
      rules: fc.constantFrom({}, awaited),
    });
    fc.assert(
      fc.property(scenarios, demands, (scenario, demand) => {
        const outcome = simulate({ ...scenario, ...demandOf(demand), durationMs: 300_000 });
        expect(outcome.sentAt.length).toBeGreaterThan(0);
        expect(outcome.refusedAt).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  test("nobody else is ever seen, so every permit of every full window is used, or nearly with a share for events, and the next opens soon", () => {
    fc.assert(
      fc.property(seeds, kinds, latencies, (seed, kind, latencyMs) => {
        const slow = simulate({ seed, kind, ...usual, latencyMs });
        expect(slow.state.others).toEqual({ perWindow: 0, until: null });
        const outcome = simulate({ seed, kind, ...usual });
        for (const window of fullWindows(outcome)) expect(window.own / 120).toBeGreaterThanOrEqual(0.98);
        expect(outcome.sentAt.length / 10).toBeGreaterThan(118);
        const whole = fullWindows(simulate({ seed, kind, ...usual, rules: awaited })).slice(2);
        for (const { own } of whole) expect(own).toBeGreaterThanOrEqual(110);
      }),
      { numRuns: 100 },
    );
  });

  // Fault: limiter | answers are lost | simulated limiters | only the lost permits are missing from the window
  test("with lost answers only what was lost is missing", () => {
    fc.assert(
      fc.property(seeds, kinds, (seed, kind) => {
        const outcome = simulate({ seed, kind, ...usual, loss: 0.02 });
        for (const window of fullWindows(outcome)) expect(window.own / 120).toBeGreaterThanOrEqual(0.9);
      }),
      { numRuns: 100 },
    );
  });

  test("a start without a state into a window that own requests opened is never refused while it has permits left", () => {
    fc.assert(
      fc.property(seeds, kinds, fc.integer({ min: 0, max: 119 }), (seed, kind, usedBefore) => {
        const outcome = simulate({ seed, kind, ...usual, durationMs: 180_000, usedBefore });
        expect(outcome.refusedAt).toEqual([]);
        expect(outcome.sentAt.length).toBeGreaterThanOrEqual(200);
      }),
      { numRuns: 100 },
    );
  });
});

/** Answers 429 in twenty simulations with these rules. */
function refusalsUnder(rules: Partial<Rules>): number {
  const kind = { ends: "exact", reports: "at_hit" } as const;
  return Array.from({ length: 20 }, (_, seed) =>
    simulate({ seed, kind, ...usual, durationMs: 300_000, rules }),
  ).reduce((sum, outcome) => sum + outcome.refusedAt.length, 0);
}

// Fault: limiter | windows are taken for shorter than they are | the rules of the rate limiter under the simulation | the simulation shows refusals: it can fail
test("the simulation can fail: these tests mean something; a rate limiter that takes windows for shorter than they are is refused", () => {
  expect(refusalsUnder({ epsilonMs: -2_000 })).toBeGreaterThan(0);
  expect(refusalsUnder({ windowMs: 50_000 })).toBeGreaterThan(0);
  expect(refusalsUnder({})).toBe(0);
});

/** The earliest end of a window that was opened at 0 is a second and a little before 60 s. */
const nearTheEnd = 57_000;

test("where events are expected, the other lanes learn when the share is released, and near the window's end it is", () => {
  const ledger = openedLedger(awaited);
  for (let i = 0; i < 107; i++) ledger.send(1_000, "scrub");
  const nextAt = ledger.nextAt(2_000, "scrub");
  expect(nextAt).toBeGreaterThan(50_000);
  expect(nextAt).toBeLessThan(nearTheEnd);
  expect(ledger.room(nextAt, "scrub")).toBe(12);
});

const anyPermit: Permit = { answered: () => undefined, lost: () => undefined };
const view = { limit: 5, granted: 5, remaining: null, waitMs: 0 };

/** Gives a permit unless the signal has aborted; notes the lanes and signals. */
function openLimiter(isBroken = () => false) {
  const asked: [string, AbortSignal | undefined][] = [];
  const limiter: RateLimiter = {
    view: () => view,
    admit: (lane, signal) => {
      asked.push([lane, signal]);
      return isBroken() ? Promise.reject(new Error("no permit")) : Promise.resolve(anyPermit);
    },
  };
  return { limiter, asked };
}

// Fault: limiter | every third answer is 503, with --max-requests | the permits of a run | repeated requests count too: exactly so many are sent
test("a run gets so many permits as it may have, and one that was not given does not count", async () => {
  let isBroken = true;
  const { limiter, asked } = openLimiter(() => isBroken);
  const limited = limitRequests(limiter, { mostRequests: 2 });
  for (let i = 0; i < 3; i++) await expect(limited.admit("list")).rejects.toThrow("no permit");
  isBroken = false;
  for (let i = 0; i < 2; i++) await expect(limited.admit("list")).resolves.toBe(anyPermit);
  await expect(limited.admit("list")).rejects.toMatchObject({ kind: "stopped" });
  expect(asked).toHaveLength(5);
});

test("a closed run gets none; who waits hears of it, and of its own signal", async () => {
  const { limiter, asked } = openLimiter();
  const closing = new AbortController();
  const own = new AbortController();
  const limited = limitRequests(limiter, { closed: closing.signal });
  await limited.admit("list");
  await limited.admit("hydration", own.signal);
  expect([asked.map(([lane]) => lane), limited.view()]).toEqual([["list", "hydration"], view]);
  expect(asked.map(([, signal]) => signal?.aborted)).toEqual([false, false]);
  own.abort();
  expect(asked.map(([, signal]) => signal?.aborted)).toEqual([false, true]);
  closing.abort();
  expect(asked.map(([, signal]) => signal?.aborted)).toEqual([true, true]);
  await expect(limited.admit("list")).rejects.toMatchObject({ kind: "stopped" });
});
