import { expect, test } from "vitest";
import type { Permit, RateLimiter } from "../../src/rate-limit/permit.ts";
import { limitRequests } from "../../src/rate-limit/rate-limiter.ts";

const permit: Permit = { answered: () => undefined, lost: () => undefined };
const view = { limit: 5, granted: 5, remaining: null, waitMs: 0 };

/** Gives a permit unless the signal has aborted; notes the lanes and signals. */
function openLimiter(isBroken = () => false) {
  const asked: [string, AbortSignal | undefined][] = [];
  const limiter: RateLimiter = {
    view: () => view,
    admit: (lane, signal) => {
      asked.push([lane, signal]);
      return isBroken() ? Promise.reject(new Error("no permit")) : Promise.resolve(permit);
    },
  };
  return { limiter, asked };
}

test("a run gets so many permits as it may have, and no more", async () => {
  const { limiter, asked } = openLimiter();
  const limited = limitRequests(limiter, { mostRequests: 2 });
  await limited.admit("list");
  await limited.admit("hydration");
  await expect(limited.admit("list")).rejects.toMatchObject({ kind: "stopped" });
  expect(asked.map(([lane]) => lane)).toEqual(["list", "hydration"]);
  expect(limited.view()).toBe(view);
});

test("a permit that was not given does not count", async () => {
  let isBroken = true;
  const { limiter } = openLimiter(() => isBroken);
  const limited = limitRequests(limiter, { mostRequests: 1 });
  for (let i = 0; i < 3; i++) await expect(limited.admit("list")).rejects.toThrow("no permit");
  isBroken = false;
  await expect(limited.admit("list")).resolves.toBe(permit);
  await expect(limited.admit("list")).rejects.toMatchObject({ kind: "stopped" });
});

test("a closed run gets none; who waits hears of it, and of its own signal", async () => {
  const { limiter, asked } = openLimiter();
  const closing = new AbortController();
  const own = new AbortController();
  const limited = limitRequests(limiter, { closed: closing.signal });
  await limited.admit("list");
  await limited.admit("list", own.signal);
  expect(asked.map(([, signal]) => signal?.aborted)).toEqual([false, false]);
  own.abort();
  expect(asked.map(([, signal]) => signal?.aborted)).toEqual([false, true]);
  closing.abort();
  expect(asked.map(([, signal]) => signal?.aborted)).toEqual([true, true]);
  await expect(limited.admit("list")).rejects.toMatchObject({ kind: "stopped" });
});
