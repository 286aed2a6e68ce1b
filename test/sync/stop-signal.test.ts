import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { stopSignal } from "../../src/sync/engine/stop-signal.ts";

const never = new AbortController().signal;

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

test("an interruption aborts at once", () => {
  const now = new AbortController();
  const signal = stopSignal({ signal: now.signal, closed: never, graceMs: 60_000 });
  expect(signal.aborted).toBe(false);
  now.abort();
  expect(signal.aborted).toBe(true);
});

test("when the time is over, requests in flight may finish within the grace time", async () => {
  const closed = new AbortController();
  const signal = stopSignal({ signal: never, closed: closed.signal, graceMs: 30 });
  await wait(60);
  expect(signal.aborted).toBe(false);
  closed.abort();
  expect(signal.aborted).toBe(false);
  await wait(90);
  expect(signal.aborted).toBe(true);
});

test("it also counts when the time was over before the run began", async () => {
  const signal = stopSignal({ signal: never, closed: AbortSignal.abort(), graceMs: 10 });
  await wait(60);
  expect(signal.aborted).toBe(true);
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
    await wait(0);
    collect();
  }
  over.abort();
  expect(getEventListeners(closed, "abort")).toHaveLength(1);
});
