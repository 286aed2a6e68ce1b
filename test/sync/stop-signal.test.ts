import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { stopSignal } from "../../src/sync/engine/stop-signal.ts";

const never = new AbortController().signal;

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test("an interruption aborts at once", () => {
  const now = new AbortController();
  const signal = stopSignal(now.signal, never, 60_000);
  expect(signal.aborted).toBe(false);
  now.abort();
  expect(signal.aborted).toBe(true);
});

test("when the time is over, requests in flight may finish within the grace time", async () => {
  const closed = new AbortController();
  const signal = stopSignal(never, closed.signal, 30);
  await wait(60);
  expect(signal.aborted).toBe(false);
  closed.abort();
  expect(signal.aborted).toBe(false);
  await wait(90);
  expect(signal.aborted).toBe(true);
});

test("it also counts when the time was over before the run began", async () => {
  const signal = stopSignal(never, AbortSignal.abort(), 10);
  await wait(60);
  expect(signal.aborted).toBe(true);
});

test("nothing is left on a signal that lives for years when its run is over", () => {
  const [closed, over] = [new AbortController().signal, new AbortController()];
  stopSignal(never, closed, 10, over.signal);
  expect(getEventListeners(closed, "abort")).toHaveLength(1);
  over.abort();
  expect(getEventListeners(closed, "abort")).toEqual([]);
});
