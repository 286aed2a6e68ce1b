import { describe, expect, test } from "vitest";
import { forEachAtOnce, Semaphore, WaitQueue } from "../../src/base/semaphore.ts";

describe("a semaphore", () => {
  test("has as many places as it was given, and hands a released one to the next caller", async () => {
    const semaphore = new Semaphore(2);
    const [first, second] = await Promise.all([semaphore.acquire(), semaphore.acquire()]);
    const order: string[] = [];
    const third = semaphore.acquire().then((release) => (order.push("third"), release));
    const fourth = semaphore.acquire().then((release) => (order.push("fourth"), release));
    await Promise.resolve();
    expect(order).toEqual([]);
    second?.();
    first?.();
    await Promise.all([third, fourth]);
    expect(order).toEqual(["third", "fourth"]);
  });

  test("does not give a place to a caller that stopped waiting", async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const stop = new AbortController();
    const stopped = semaphore.acquire(stop.signal);
    const next = semaphore.acquire();
    stop.abort();
    expect(await stopped).toBeNull();
    for (let times = 0; times < 2; times++) release?.();
    expect(await next).toBeTypeOf("function");
    // Released twice, it has one place all the same, and that is taken.
    const late = new AbortController();
    const waiting = semaphore.acquire(late.signal);
    late.abort();
    expect(await waiting).toBeNull();
    expect(await new Semaphore(1).acquire(AbortSignal.abort())).toBeNull();
  });
});

test("a wait queue rejects all callers with one error and is empty afterwards", async () => {
  const queue = new WaitQueue<number>();
  const waits = [queue.wait(3), queue.wait(1)];
  expect([queue.size, queue.nextPriority]).toEqual([2, 1]);
  queue.rejectAll(new Error("closed"));
  const results = await Promise.allSettled(waits);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([queue.size, queue.nextPriority, queue.serve(1)]).toEqual([0, null, false]);
});

test("work that is done several at once ends with all that was begun, as the first that failed", async () => {
  const slow = Promise.withResolvers<void>();
  const done: number[] = [];
  const work = async (one: number) => {
    if (one === 1) throw new Error("broken");
    await slow.promise;
    done.push(one);
  };
  const all = forEachAtOnce(2, [0, 1, 2, 3], work).catch(() => [...done]);
  setImmediate(slow.resolve);
  expect(await all).toEqual([0]);
  await expect(forEachAtOnce(2, [1, 0], work)).rejects.toThrow("broken");
});
