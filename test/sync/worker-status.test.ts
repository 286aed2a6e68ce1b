import { expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/logger.ts";
import { NetworkError, UnauthenticatedError } from "../../src/connector/service-errors.ts";
import { pauseMs, WorkerStatus, type WorkerState } from "../../src/sync/event-worker/worker-status.ts";
import { createDrivenClock } from "../support/rate-limit.ts";

const minuteMs = 60_000;

test.each([
  ["unavailable", [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, minuteMs, minuteMs]],
  ["database", [1_000, 2_000, 4_000]],
  ["unauthenticated", [30_000, minuteMs, 2 * minuteMs, 4 * minuteMs, 5 * minuteMs, 5 * minuteMs]],
  ["identity", [5 * minuteMs, 5 * minuteMs]],
] as const)("%s: pauses of %j, and never longer", (impediment, pauses) => {
  expect(pauses.map((_pause, i) => pauseMs(impediment, i + 1))).toEqual(pauses);
  expect(pauseMs(impediment, 1_000_000)).toBeLessThanOrEqual(5 * minuteMs);
});

function story() {
  const clock = createDrivenClock();
  const lines: string[] = [];
  const states: WorkerState[] = [];
  const say = (message: string) => void lines.push(message);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  return { clock, lines, states, story: new WorkerStatus(clock, log, (state) => states.push(state)) };
}

test("each change is told once, with since when it holds; the same again is not", async () => {
  const told = story();
  told.story.works();
  await told.clock.advance(minuteMs);
  const sinceMs = told.clock.nowMs();
  expect(told.story.impeded(new NetworkError("reset"))).toBe(1_000);
  await told.clock.advance(minuteMs);
  expect(told.story.impeded(new NetworkError("reset"))).toBe(2_000);
  expect(told.story.state()).toEqual({ state: "unavailable", message: "reset", sinceMs });
  expect(told.story.impeded(new UnauthenticatedError("401"))).toBe(30_000);
  told.story.works();
  told.story.works();
  expect(told.states.map(({ state }) => state)).toEqual([
    "working",
    "unavailable",
    "unauthenticated",
    "working",
  ]);
  expect(told.lines).toHaveLength(4);
});

test("other words for the same trouble are the newest message, no new line, and as old as the trouble", async () => {
  const told = story();
  told.story.impeded(new NetworkError("reset"));
  const { sinceMs } = told.story.state();
  await told.clock.advance(minuteMs);
  told.story.impeded(new NetworkError("timed out"));
  expect(told.story.state()).toEqual({ state: "unavailable", message: "timed out", sinceMs });
  expect(told.lines).toHaveLength(1);
});

test("who listens to the state and fails stops nothing", () => {
  const { clock } = story();
  const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const deaf = new WorkerStatus(clock, silent, () => {
    throw new MirrorError("database", "full");
  });
  expect(() => deaf.works()).not.toThrow();
  expect(deaf.state().state).toBe("working");
});
