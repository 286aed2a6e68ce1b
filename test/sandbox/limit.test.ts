import { expect, test } from "vitest";
import { createLimiter, type LimiterKind } from "../../connectors/fintoro/sandbox/service/limiter.ts";
import { get, openSandbox } from "../support/sandbox/sandbox.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

const minute = 60_000;

test("I8 the stand-in refuses what is beyond its limit, until a minute after the first request", async () => {
  const clock = new DrivenClock();
  const sandbox = await openSandbox({ clock, limit: 2 });
  const status = async () => (await get(sandbox, "/whoami")).status;
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  clock.wind(minute - 1);
  expect(await status()).toBe(429);
  clock.wind(1);
  expect(await status()).toBe(200);
});

/** How long the windows of a kind last, and what the first answer, the slowest of three, says of the rest. */
test.each<[LimiterKind, number, string]>([
  ["fixed", minute, "0"],
  ["hit_time", minute, "2"],
  // The clock of the test begins a quarter of a second after a whole one.
  ["whole_seconds", minute - 250, "0"],
])("a window of the kind %s lasts %i ms, and a slow answer says that %s remain", (kind, lengthMs, remain) => {
  const clock = new DrivenClock();
  const limiter = createLimiter(clock, { kind, limit: 3, windowMs: minute });
  const slow = limiter.count();
  expect([limiter.count().allowed, limiter.count().allowed]).toEqual([true, true]);
  expect(slow.headers()["X-RateLimit-Remaining"]).toBe(remain);
  clock.wind(lengthMs - 1);
  expect(limiter.count().allowed).toBe(false);
  clock.wind(1);
  expect(limiter.count().allowed).toBe(true);
});
