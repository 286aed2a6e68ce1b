import { expect, test } from "vitest";
import { linkSignals, throwIfAborted, yieldToLoop } from "../../src/base/cancellation.ts";

test("throws kind `stopped` with the given message once the signal has aborted", async () => {
  const stop = new AbortController();
  throwIfAborted(undefined, "interrupted");
  throwIfAborted(stop.signal, "interrupted");
  const yielding = yieldToLoop(stop.signal, "interrupted");
  stop.abort();
  await expect(yielding).rejects.toMatchObject({ kind: "stopped", message: "interrupted" });
  expect(() => throwIfAborted(stop.signal, "interrupted")).toThrow("interrupted");
});

test("lets timers of the thread run", async () => {
  let ran = false;
  setImmediate(() => (ran = true));
  await yieldToLoop(undefined, "interrupted");
  expect(ran).toBe(true);
});

test("a linked signal aborts with any of the others, until it is released", () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const linked = linkSignals(one.signal, undefined, two.signal);
  const released = linkSignals(one.signal, two.signal);
  released.release();
  expect(linked.signal.aborted).toBe(false);
  two.abort();
  expect([linked.signal.aborted, released.signal.aborted]).toEqual([true, false]);
  expect(linkSignals(two.signal).signal.aborted).toBe(true);
});
