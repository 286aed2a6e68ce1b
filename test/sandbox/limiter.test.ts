import { describe, expect, test } from "vitest";
import {
  createLimiter,
  type Limiter,
  type LimiterKind,
} from "../../connectors/fintoro/sandbox/service/limiter.ts";
import { get, openSandbox, WoundClock } from "../support/sandbox/sandbox.ts";

const minute = 60_000;

function limiter(kind: LimiterKind, limit = 3, clock = new WoundClock()) {
  return { clock, limiter: createLimiter(clock, { kind, limit, windowMs: minute }) };
}

/** Counts `times` requests; gives what remained after each. */
function remainders(of: Limiter, times: number): string[] {
  return Array.from({ length: times }, () => of.count().headers()["X-RateLimit-Remaining"] ?? "");
}

describe("the window", () => {
  test("opens with the first counted request and lasts exactly its length", () => {
    const { clock, limiter: of } = limiter("fixed");
    clock.wind(17_333);
    expect(remainders(of, 3)).toEqual(["2", "1", "0"]);
    clock.wind(minute - 1);
    expect(of.count().allowed).toBe(false);
    clock.wind(1);
    expect(of.count()).toMatchObject({ allowed: true });
  });

  test("in whole seconds ends up to a second early, on the second", () => {
    const { clock, limiter: of } = limiter(
      "whole_seconds",
      3,
      new WoundClock(Date.UTC(2026, 10, 20, 9, 0, 0, 250)),
    );
    of.count();
    clock.wind(minute - 251);
    expect(remainders(of, 2)).toEqual(["1", "0"]);
    clock.wind(1);
    expect(remainders(of, 1)).toEqual(["2"]);
  });
});

describe("what remains", () => {
  test("is reported as it is when the answer leaves, or as it was when the request came", () => {
    for (const [kind, first] of [
      ["fixed", "1"],
      ["hit_time", "2"],
    ] as const) {
      const { limiter: of } = limiter(kind);
      const slow = of.count();
      of.count();
      expect(slow.headers()["X-RateLimit-Remaining"], kind).toBe(first);
    }
  });
});

describe("a refusal", () => {
  test("gives whole seconds, rounded down: 0 in the last second", () => {
    const { clock, limiter: of } = limiter("fixed");
    remainders(of, 3);
    const headers = () => of.count().headers();
    expect(headers()).toMatchObject({
      "X-RateLimit-Limit": "3",
      "X-RateLimit-Remaining": "0",
      "Retry-After": "60",
    });
    clock.wind(1);
    expect(headers()["Retry-After"]).toBe("59");
    clock.wind(minute - 2);
    expect(headers()["Retry-After"]).toBe("0");
    expect(headers()["X-RateLimit-Reset"]).toBe(String(Math.floor(clock.nowMs() / 1000)));
  });
});

describe("over HTTP", () => {
  test("the budget is the company's, shared by its tokens; 429 has its headers and its words", async () => {
    const clock = new WoundClock();
    const sandbox = await openSandbox({ clock, limit: 2 });
    await get(sandbox, "/whoami");
    const second = await get(sandbox, "/whoami", { token: sandbox.readToken });
    expect(second.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(second.headers.get("retry-after")).toBeNull();
    const third = await get(sandbox, "/invoices/999999");
    expect([third.status, third.json]).toEqual([429, { message: "Too Many Attempts." }]);
    expect(third.headers.get("retry-after")).toBe("60");
    expect(third.headers.get("x-ratelimit-reset")).toBe(String(Math.floor(clock.nowMs() / 1000) + 60));
    clock.wind(minute);
    expect((await get(sandbox, "/whoami")).headers.get("x-ratelimit-remaining")).toBe("1");
  });

  test("the record is read in the middle of the latency, as a real service would", async () => {
    const clock = new WoundClock();
    const sandbox = await openSandbox({ clock, latencyMs: 100 });
    const asked = get(sandbox, "/whoami");
    await until(() => clock.sleeping === 1);
    sandbox.control.rename("Pred prečítaním");
    clock.wind(50);
    await until(() => clock.sleeping === 1);
    sandbox.control.rename("Po prečítaní");
    clock.wind(50);
    expect((await asked).json).toEqual({ name: "Pred prečítaním" });
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2_000 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(holds()).toBe(true);
}
