import { beforeEach, expect, test } from "vitest";
import { createClockSkew, skewText, type ClockSkew } from "../../src/http/clock-skew.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

let clock: DrivenClock;
let skew: ClockSkew;

beforeEach(() => {
  clock = new DrivenClock();
  skew = createClockSkew(clock);
});

/** An answer that is received now, of a service whose clock is so far behind ours. */
function answer(behindMs: number, tookMs = 100): void {
  const receivedMs = clock.monotonicMs();
  const there = new Date(clock.nowMs() - tookMs / 2 - behindMs).toUTCString();
  skew.sample(there, receivedMs - tookMs, receivedMs);
}

test("the clock's skew is not known before an answer says what time it is there", () => {
  for (const date of [undefined, "noon"]) skew.sample(date, 0, 10);
  expect(skew.skewMs()).toBeNull();
});

test("it is the median of the last answers, to about half a second, whatever their round trips", () => {
  for (let i = 0; i < 30; i++) {
    answer(400_000, (i % 5) * 900);
    clock.wind(1_370);
  }
  expect(Math.abs((skew.skewMs() ?? 0) - 400_000)).toBeLessThan(600);
});

test("an answer that took long says nothing", () => {
  answer(0, 5_001);
  expect(skew.skewMs()).toBeNull();
});

test("a service whose clock jumps is believed at once", () => {
  for (let i = 0; i < 9; i++) answer(0);
  answer(-86_400_000);
  expect(Math.abs((skew.skewMs() ?? 0) + 86_400_000)).toBeLessThan(1_000);
});

// Fault: clock | this machine's clock is set ahead by 400 s while nothing is asked | the wall clock | the skew shows it without another answer
test("a clock that is set shows at once, without another answer", () => {
  const set = { byMs: 0 };
  skew = createClockSkew({
    nowMs: () => clock.nowMs() + set.byMs,
    monotonicMs: () => clock.monotonicMs(),
    sleep: () => Promise.resolve(),
  });
  answer(0);
  set.byMs = 400_000;
  expect(Math.abs((skew.skewMs() ?? 0) - 400_000)).toBeLessThan(1_000);
});

test("it is told in words", () => {
  expect(skewText(400_400)).toBe("400 s ahead of the service");
  expect(skewText(-1_600)).toBe("2 s behind the service");
});
