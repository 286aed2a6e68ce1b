import { expect, test } from "vitest";
import { Notifier } from "../../src/base/notifier.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

test("notifications while nobody waits end one wait, not two", async () => {
  const clock = new DrivenClock();
  const notifier = new Notifier();
  notifier.notify();
  notifier.notify();
  await notifier.wait();
  let ended = false;
  void notifier.wait({ clock, ms: 50 }).then(() => (ended = true));
  await clock.advance(49);
  expect(ended).toBe(false);
  await clock.advance(1);
  expect(ended).toBe(true);
});

test("a wait with a timeout leaves no timer behind when it is notified", async () => {
  const clock = new DrivenClock();
  const notifier = new Notifier();
  const wait = notifier.wait({ clock, ms: 5_000 });
  expect(clock.sleeping).toBe(1);
  notifier.notify();
  await wait;
  expect(clock.sleeping).toBe(0);
});
