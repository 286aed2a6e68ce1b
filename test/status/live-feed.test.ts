import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { LiveFeed } from "../../src/status/page/live-feed.ts";
import { html } from "../../src/status/page/markup/html.ts";

/** A clock that moves only when the test says so. */
function driven() {
  let nowMs = 0;
  const sleeping = new Set<{ readonly untilMs: number; readonly wake: () => void }>();
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = { untilMs: nowMs + ms, wake: resolve };
        sleeping.add(sleeper);
        signal?.addEventListener("abort", () => resolve());
      }),
  };
  const pass = async (ms: number) => {
    nowMs += ms;
    for (const one of sleeping) if (one.untilMs <= nowMs && sleeping.delete(one)) one.wake();
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, pass, work: (ms: number) => (nowMs += ms) };
}

function aFeed(tookMs = 0) {
  const { clock, pass, work } = driven();
  const texts = { queue: "0", runs: "none" };
  const counts = { readings: 0 };
  const feed = new LiveFeed(
    clock,
    () => {
      counts.readings++;
      work(tookMs);
      return Promise.resolve(Object.entries(texts).map(([id, text]) => ({ id, body: html`<p>${text}</p>` })));
    },
    () => clock.monotonicMs(),
  );
  const reader = (since = "") => {
    const messages: string[] = [];
    const stop = feed.follow(since, (message) => void messages.push(message));
    const ids = () => messages.map((one) => [...one.matchAll(/"id":"(\w+)"/g)].map((match) => match[1]));
    return { messages, stop, ids };
  };
  return { feed, pass, texts, counts, reader };
}

describe("a live page", () => {
  test("is read once an interval, however many look at it", async () => {
    const { feed, pass, counts, reader } = aFeed();
    for (let i = 0; i < 50; i++) reader();
    for (let i = 0; i < 50; i++) await feed.state();
    await pass(0);
    expect(counts.readings).toBe(1);
    await pass(2_000);
    expect(counts.readings).toBe(2);
  });

  test("is not read while nobody looks", async () => {
    const { pass, counts, reader } = aFeed();
    const { stop } = reader();
    await pass(2_000);
    stop();
    const { readings } = counts;
    for (let i = 0; i < 10; i++) await pass(60_000);
    expect(counts.readings).toBe(readings);
  });

  test("rests two hundred times what reading it computes: half a percent of the thread", async () => {
    const { pass, counts, reader } = aFeed(50);
    reader();
    await pass(0);
    await pass(9_900);
    expect(counts.readings).toBe(1);
    await pass(200);
    expect(counts.readings).toBe(2);
  });

  test("sends the parts that changed, to each reader what it has not seen", async () => {
    const { feed, pass, texts, reader } = aFeed();
    const { revision } = await feed.state();
    const [early, anew] = [reader(revision), reader("other-7")];
    await pass(0);
    expect([early.ids(), anew.ids()]).toEqual([[], [["queue", "runs"]]]);
    texts.queue = "3";
    await pass(2_000);
    await pass(2_000);
    expect([early.ids(), anew.ids()]).toEqual([[["queue"]], [["queue", "runs"], ["queue"]]]);
    const [, last = ""] = /^id: (.*)$/m.exec(early.messages[0] ?? "") ?? [];
    texts.runs = "one";
    await pass(2_000);
    expect(reader(last).ids()).toEqual([["runs"]]);
  });

  test("stays as it was while it cannot be read, and follows again", async () => {
    const { clock, pass } = driven();
    let fails = true;
    const feed = new LiveFeed(clock, () =>
      fails ? Promise.reject(new Error("disk I/O error")) : Promise.resolve([{ id: "a", body: html`x` }]),
    );
    const messages: string[] = [];
    feed.follow("", (message) => void messages.push(message));
    await pass(0);
    expect(messages).toEqual([]);
    for (let i = 0; i < 2; i++) await expect(feed.state()).rejects.toThrow("disk I/O error");
    fails = false;
    await pass(2_000);
    await expect.poll(() => messages.length).toBe(1);
  });
});
