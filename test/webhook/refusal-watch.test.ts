import { beforeEach, describe, expect, test } from "vitest";
import { hourMs, isoTime, minuteMs } from "../../src/base/clock.ts";
import { RefusalWatch, deliveryVerdict } from "../../src/webhook/delivery-gap/refusal-watch.ts";
import type { DeliveryVerdict, Refusal } from "../../src/webhook/delivery-gap/refusal-watch.ts";
import type { CompanyConfig } from "../../src/config/config.ts";
import type { Subscription } from "../../src/webhook/subscriptions/subscription-client.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";
import { subscription } from "../support/status/company-view.ts";

const forged: Refusal = { reason: "bad_signature" };
const genuine: Refusal = { reason: "stale_timestamp", isGenuine: true, offsetMs: 400_000 };
const keys = ["some-key"];
let clock: DrivenClock;
let watch: RefusalWatch;

beforeEach(() => {
  clock = new DrivenClock();
  watch = new RefusalWatch(clock);
});

function refuse(times: number, refusal: Refusal): void {
  for (let i = 0; i < times; i++) watch.refused(refusal);
}

/** Lets the service be asked, if it is time to. Gives whether it was. */
async function ask(verdict: DeliveryVerdict): Promise<boolean> {
  let asked = false;
  await watch.ask(() => {
    asked = true;
    return Promise.resolve(verdict);
  });
  return asked;
}

describe("the service's deliveries do not arrive", () => {
  test("once three were refused and none was accepted, and the service does not say that none failed", async () => {
    refuse(2, forged);
    expect([await ask("unknown"), watch.refusing()]).toEqual([false, null]);
    refuse(1, forged);
    expect(watch.refusing()).toBeNull();
    expect(await ask("unknown")).toBe(true);
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

  // Fault: webhook | the service signs with another secret than the config has | refused deliveries, and what the service says | named within half a minute
  test("once the service says that one failed, also shortly after an accepted one", async () => {
    watch.accepted();
    refuse(1, forged);
    clock.wind(14_999);
    expect(await ask("failed")).toBe(false);
    clock.wind(1);
    expect(await ask("failed")).toBe(true);
    expect(watch.refusing()).toMatchObject({ reason: "bad_signature", counts: { bad_signature: 1 } });
    refuse(1, forged);
    clock.wind(hourMs);
    expect([await ask("fine"), watch.refusing()]).toMatchObject([false, { counts: { bad_signature: 2 } }]);
  });

  test("since the first refusal after the last accepted one, until one is accepted", async () => {
    refuse(5, forged);
    await ask("failed");
    watch.accepted();
    expect(watch.refusing()).toBeNull();
    clock.wind(hourMs);
    const sinceMs = clock.nowMs();
    refuse(1, forged);
    clock.wind(minuteMs);
    refuse(2, { reason: "missing_header" });
    await ask("failed");
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

  test("until the keys change: what was refused by the old ones says nothing any more", async () => {
    watch.observe(null, keys);
    refuse(3, forged);
    await ask("failed");
    watch.observe(null, keys);
    expect(watch.refusing()).not.toBeNull();
    watch.observe(null, ["another-key"]);
    expect(watch.refusing()).toBeNull();
  });
});

describe("a client that sends garbage", () => {
  // Fault: webhook | a thousand deliveries that anybody can send, to a company that is quiet | the watch of refusals | health is not touched, and the service is asked a few times an hour
  test("is no sign of anything while the service says that its deliveries do not fail", async () => {
    let questions = 0;
    for (let minute = 0; minute < 300; minute++) {
      refuse(1_000, forged);
      refuse(1_000, { reason: "stale_timestamp", offsetMs: 1e12 });
      questions += Number(await ask("fine"));
      expect(watch.refusing()).toBeNull();
      clock.wind(minuteMs);
    }
    expect(questions).toBeGreaterThan(25);
    expect(questions).toBeLessThan(40);
  });

  test("is asked about once, when it sends nothing more, and does not keep a key that is wrong from being found", async () => {
    refuse(3, forged);
    expect(await ask("fine")).toBe(true);
    clock.wind(hourMs);
    expect([await ask("fine"), watch.refusing()]).toEqual([false, null]);
    refuse(1, forged);
    expect(await ask("failed")).toBe(true);
    expect(watch.refusing()).not.toBeNull();
  });

  // Fault: webhook | hundreds of deliveries with wrong signatures beside good ones | refused and accepted deliveries | counted; they are no sign of anything
  test("is no sign within ten minutes of an accepted delivery where the service does not say", async () => {
    for (let minute = 0; minute < 60; minute += 9) {
      watch.accepted();
      refuse(1_000, forged);
      await ask("unknown");
      clock.wind(9 * minuteMs);
      expect(watch.refusing()).toBeNull();
    }
    clock.wind(minuteMs);
    await ask("unknown");
    expect(watch.refusing()).not.toBeNull();
  });

  test("also where the last one was accepted by an earlier process", async () => {
    watch.acceptedAt(isoTime(clock.nowMs() - 9 * minuteMs));
    refuse(9, forged);
    await ask("unknown");
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

const company = { name: "acme", webhook: { publicUrl: null } } as unknown as CompanyConfig;
const sinceMs = Date.parse("2026-11-20T12:00:00Z");

const at = (time: string | null) => time && `2026-11-20T${time}Z`;

/** One that leads to the company's receiver, or to another's; times are of the day above. */
function delivering(failed: string | null, succeeded: string | null = null, name = "acme"): Subscription {
  const url = `https://hooks.example.com/webhooks/${name}`;
  return subscription({ url, last_success_at: at(succeeded), last_failure_at: at(failed) });
}

describe("what the service says of its own deliveries", () => {
  test.each([
    ["one failed since", [delivering("12:00:00")], "failed"],
    ["one failed, and one before it arrived", [delivering("12:00:04", "11:00:00")], "failed"],
    ["one failed, and arrived since", [delivering("12:00:04", "12:00:15")], "fine"],
    ["one failed before", [delivering("11:59:50")], "fine"],
    ["none ever failed", [delivering(null)], "fine"],
    ["only one to another address failed", [delivering(null), delivering("12:00:04", null, "b")], "fine"],
    ["only to another address is anything sent, and failed", [delivering("12:00:04", null, "b")], "failed"],
  ])("is judged by its subscriptions: %s", (_, subscriptions, verdict) => {
    expect(deliveryVerdict(subscriptions, company, { sinceMs, everAccepted: false })).toBe(verdict);
  });

  test.each([
    ["unknown", "none was ever accepted", () => null],
    ["fine", "one was accepted before", () => isoTime(clock.nowMs())],
  ])("is %s without a subscription that leads here, where %s", async (verdict, _, lastAccepted) => {
    let said: DeliveryVerdict | null = null;
    watch.acceptedAt(lastAccepted());
    refuse(3, forged);
    await watch.ask((fromMs, everAccepted) => {
      said = deliveryVerdict([], company, { sinceMs: fromMs, everAccepted });
      return Promise.resolve(said);
    });
    expect(said).toBe(verdict);
  });
});
