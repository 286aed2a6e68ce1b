import { expect, test, vi, onTestFinished } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import { abortAfter, stopSignal } from "../../src/base/cancellation.ts";
import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

test("a time limit may be a part of a millisecond, or longer than Node's longest timer", () => {
  using timeout = vi.spyOn(AbortSignal, "timeout");
  const aborted = [1.5, 30 * dayMs].map((ms) => abortAfter(ms).aborted);
  expect({ aborted, asked: timeout.mock.calls.flat() }).toEqual({
    aborted: [false, false],
    asked: [2, 2_147_483_647],
  });
});

const never = new AbortController().signal;

test("requests in flight may finish within the grace time once the run's time is over; an interruption ends them", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const [now, closed] = [new AbortController(), new AbortController()];
  const signals = [
    stopSignal({ signal: never, closed: closed.signal, graceMs: 30 }),
    stopSignal({ signal: never, closed: AbortSignal.abort(), graceMs: 30 }),
    stopSignal({ signal: now.signal, closed: never, graceMs: 30 }),
  ];
  const aborted = () => signals.map((signal) => signal.aborted);
  expect(aborted()).toEqual([false, false, false]);
  closed.abort();
  now.abort();
  vi.advanceTimersByTime(29);
  expect(aborted()).toEqual([false, false, true]);
  vi.advanceTimersByTime(1);
  expect(aborted()).toEqual([true, true, true]);
});

// Fault: process | thousands of runs in one process, and collections of its memory | the signal that ends them all | nothing of a run that is over is kept by it
test("nothing is left on a signal that lives for years when its run is over, whatever else listens to it", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const [closed, over] = [new AbortController().signal, new AbortController()];
  stopSignal({ signal: never, closed, graceMs: 10 }, over.signal);
  closed.addEventListener("abort", () => undefined, { signal: never });
  expect(getEventListeners(closed, "abort")).toHaveLength(2);
  for (let turns = 0; turns < 5; turns++) {
    await setImmediate();
    collect();
  }
  over.abort();
  expect(getEventListeners(closed, "abort")).toHaveLength(1);
});
