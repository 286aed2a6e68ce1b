import { expect, test } from "vitest";
import { yieldToLoop } from "../../src/base/cancellation.ts";
import { throwIfAborted } from "../../src/base/errors.ts";

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
