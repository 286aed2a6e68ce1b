import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import type { Lane } from "../../src/base/lane.ts";
import { createRateLimiter } from "../../src/rate-limit/rate-limiter.ts";
import type { RateLimiter, Permit } from "../../src/rate-limit/permit.ts";
import { createMemoryRateLimitStore, type RateLimitStore } from "../../src/rate-limit/state.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { stubLog } from "../support/http/http-client.ts";

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

describe("a caller that stops waiting", () => {
  // Fault: process | a caller stops while it waits for a permit | its signal | it takes no permit
  test("is rejected at once with a MirrorError of kind stopped, and takes no permit", async () => {
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

  test("a refusal and other programs are logged once", async () => {
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
    const next = rateLimiter.admit("list");
    await clock.advance(4_000);
    (await next).answered(200, left(3));
    expect(log.lines.filter(({ message }) => message.includes("other programs"))).toHaveLength(1);
    // The reserve of a tenth is theirs.
    expect(rateLimiter.view().granted).toBe(9);
  });
});
