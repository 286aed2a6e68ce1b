import { expect, test } from "vitest";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { openSink } from "../support/sandbox/webhook-sink.ts";

test("a delivery that fails is tried five times, at about 10, 100, 1,000 and 10,000 s, each as of then, and then no more", async () => {
  const clock = new DrivenClock();
  const sink = await openSink();
  const { control } = await openSandbox({ clock, webhooks: [{ url: sink.url }] });
  const outcomes = () => control.webhooks.history().map(({ outcome }) => outcome);
  sink.treat(500);
  control.trigger("clients.updated", 101);
  for (const [index, waitS] of [10, 100, 1_000, 10_000].entries()) {
    await expect.poll(outcomes).toHaveLength(index + 1);
    expect(outcomes().at(-1)).toBe("retry");
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.wind(waitS * 940);
    expect(clock.sleeping).toBe(1);
    clock.wind(waitS * 120);
  }
  await expect.poll(outcomes).toEqual(["retry", "retry", "retry", "retry", "failed"]);
  expect([sink.received.length, clock.sleeping]).toEqual([5, 0]);
  const sent = sink.received.map(({ headers, body }) => [headers["webhook-timestamp"], body.toString()]);
  expect([0, 1].map((part) => new Set(sent.map((one) => one[part])).size)).toEqual([5, 1]);
});
