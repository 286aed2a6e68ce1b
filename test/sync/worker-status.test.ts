import { expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { MirrorError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/logger.ts";
import { NetworkError, UnauthenticatedError } from "../../src/connector/service-errors.ts";
import { createWorkerStatus, pauseMs } from "../../src/sync/event-worker/worker-status.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

test.each([
  ["unavailable", [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, minuteMs, minuteMs]],
  ["database", [1_000, 2_000, 4_000]],
  ["unauthenticated", [30_000, minuteMs, 2 * minuteMs, 4 * minuteMs, 5 * minuteMs, 5 * minuteMs]],
  ["identity", [5 * minuteMs, 5 * minuteMs]],
] as const)("%s: pauses of %j, and never longer", (impediment, pauses) => {
  expect(pauses.map((_pause, i) => pauseMs(impediment, i + 1))).toEqual(pauses);
  expect(pauseMs(impediment, 1_000_000)).toBeLessThanOrEqual(5 * minuteMs);
});

function setUp() {
  const clock = new DrivenClock();
  const lines: string[] = [];
  const say = (message: string) => void lines.push(message);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  return { clock, lines, status: createWorkerStatus(clock, log) };
}

test("each change is reported once, with the time since it holds; a repetition is not, and its message replaces the old one", async () => {
  const seen = setUp();
  seen.status.works();
  expect(seen.status.state().state).toBe("working");
  await seen.clock.advance(minuteMs);
  const sinceMs = seen.clock.nowMs();
  expect(seen.status.impeded(new NetworkError("reset"))).toBe(1_000);
  await seen.clock.advance(minuteMs);
  expect(seen.status.impeded(new NetworkError("timed out"))).toBe(2_000);
  expect(seen.status.state()).toEqual({ state: "unavailable", message: "timed out", sinceMs });
  expect(seen.status.impeded(new UnauthenticatedError("401"))).toBe(30_000);
  expect(seen.status.state().state).toBe("unauthenticated");
  seen.status.works();
  seen.status.works();
  expect(seen.status.state().state).toBe("working");
  expect(seen.lines).toHaveLength(4);
});

test("a mirror that another process may write is no fault of the service", () => {
  const seen = setUp();
  seen.status.impeded(new MirrorError("locked", "its lock file was replaced"));
  expect(seen.status.state().state).toBe("database");
});
