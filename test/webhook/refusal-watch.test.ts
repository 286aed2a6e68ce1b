import { beforeEach, describe, expect, test } from "vitest";
import { RefusalWatch, type Refusal } from "../../src/webhook/delivery-gap/refusal-watch.ts";
import { WoundClock } from "../support/sandbox.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const forged: Refusal = { reason: "bad_signature" };
const genuine: Refusal = { reason: "stale_timestamp", isGenuine: true, offsetMs: 400_000 };
const keys = ["some-key"];
let clock: WoundClock;
let watch: RefusalWatch;

beforeEach(() => {
  clock = new WoundClock();
  watch = new RefusalWatch(clock);
});

function refuse(times: number, refusal: Refusal): void {
  for (let i = 0; i < times; i++) watch.refused(refusal);
}

describe("the service's deliveries do not arrive", () => {
  test("once three were refused and none was accepted", () => {
    refuse(2, forged);
    expect(watch.refusing()).toBeNull();
    refuse(1, forged);
    expect(watch.refusing()).toMatchObject({ reason: "bad_signature", counts: { bad_signature: 3 } });
  });

  test("once one that the service signed was refused, and none was accepted for ten minutes", () => {
    watch.accepted();
    refuse(1, genuine);
    clock.wind(10 * minuteMs - 1);
    expect(watch.refusing()).toBeNull();
    clock.wind(1);
    expect(watch.refusing()).not.toBeNull();
  });

  test("at once when a signed one cannot be stored", () => {
    watch.accepted();
    refuse(1, { reason: "not_stored", isGenuine: true });
    expect(watch.refusing()).toMatchObject({ reason: "not_stored" });
  });

  test("since the first refusal after the last accepted one, until one is accepted", () => {
    refuse(5, forged);
    watch.accepted();
    expect(watch.refusing()).toBeNull();
    clock.wind(hourMs);
    const sinceMs = clock.nowMs();
    refuse(1, forged);
    clock.wind(minuteMs);
    refuse(2, { reason: "missing_header" });
    expect(watch.refusing()).toMatchObject({ sinceMs, lastMs: clock.nowMs(), reason: "missing_header" });
    watch.accepted();
    expect([watch.refusing(), watch.counts]).toEqual([null, { bad_signature: 6, missing_header: 2 }]);
  });

  test("until the service has given up: four hours without a refusal", () => {
    refuse(3, genuine);
    clock.wind(4 * hourMs);
    expect(watch.refusing()).not.toBeNull();
    clock.wind(1);
    expect(watch.refusing()).toBeNull();
  });

  test("until the keys change: what was refused by the old ones says nothing any more", () => {
    watch.observe(null, keys);
    refuse(3, forged);
    watch.observe(null, keys);
    expect(watch.refusing()).not.toBeNull();
    watch.observe(null, ["another-key"]);
    expect(watch.refusing()).toBeNull();
  });
});

describe("a client that sends garbage", () => {
  // Fault: webhook | a thousand deliveries that anybody can send, between the service's own | the watch of refusals | health is not touched
  test("is no sign of anything within ten minutes of an accepted delivery", () => {
    for (let minute = 0; minute < 60; minute += 9) {
      watch.accepted();
      refuse(1_000, forged);
      refuse(1_000, { reason: "stale_timestamp", offsetMs: 1e12 });
      clock.wind(9 * minuteMs);
      expect(watch.refusing()).toBeNull();
    }
    clock.wind(minuteMs);
    expect(watch.refusing()).not.toBeNull();
  });

  test("also where the last one was accepted by an earlier process", () => {
    watch.acceptedAt(clock.nowMs() - 9 * minuteMs);
    refuse(9, forged);
    expect(watch.refusing()).toBeNull();
    clock.wind(minuteMs);
    expect(watch.refusing()).not.toBeNull();
  });

  test("is none when it sends old copies, wrong requests, or bodies that do not come", () => {
    refuse(9, { ...genuine, isGenuine: false, isCopy: true });
    for (const reason of ["wrong_method", "too_large", "slow_body", "sender_gone"] as const)
      refuse(9, { reason });
    clock.wind(hourMs);
    expect(watch.refusing()).toBeNull();
  });
});

// Fault: clock | this machine's clock is 400 s ahead, and is set right | the clock measured beside refused deliveries | it is named as the cause; once it is right nothing is wrong any more
describe("this machine's clock", () => {
  test.each([
    ["explains why deliveries seem old", 400_000, true],
    ["is off the other way", -400_000, false],
    ["is off by less", 200_000, false],
    ["is not known", null, false],
  ])("is blamed only where it does: it %s", (_, skewMs, blamesClock) => {
    refuse(3, genuine);
    watch.observe(skewMs, keys);
    expect(watch.refusing()).toMatchObject({ blamesClock });
  });

  test("that was to blame and is right again ends it; one that was not changes nothing", () => {
    refuse(3, genuine);
    watch.observe(400_000, keys);
    watch.observe(null, keys);
    watch.observe(61_000, keys);
    expect(watch.refusing()).toMatchObject({ blamesClock: true });
    watch.observe(-500, keys);
    expect(watch.refusing()).toBeNull();
    refuse(3, genuine);
    watch.observe(0, keys);
    expect(watch.refusing()).toMatchObject({ blamesClock: false });
  });
});
