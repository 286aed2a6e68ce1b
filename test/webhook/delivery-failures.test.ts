import { describe, expect, test } from "vitest";
import type { CompanyConfig } from "../../src/config/config.ts";
import { deliveryVerdict } from "../../src/webhook/delivery-gap/refusal-watch.ts";
import type { Subscription } from "../../src/webhook/subscriptions/subscription-client.ts";
import { subscription } from "../support/status/company-view.ts";

const company = { name: "acme", webhook: { publicUrl: null } } as unknown as CompanyConfig;
const sinceMs = Date.parse("2026-11-20T12:00:00Z");

const at = (time: string | null) => time && `2026-11-20T${time}Z`;

/** One that leads to the company's receiver, or to another's; times are of the day above. */
function delivering(failed: string | null, succeeded: string | null = null, name = "acme"): Subscription {
  const url = `https://hooks.example.com/webhooks/${name}`;
  return subscription({ url, lastSuccessAt: at(succeeded), lastFailureAt: at(failed) });
}

describe("what the service says of its own deliveries", () => {
  test.each([
    ["one failed since", [delivering("12:00:00")], "failed"],
    ["one failed, and one before it arrived", [delivering("12:00:04", "11:00:00")], "failed"],
    ["one failed, and arrived since", [delivering("12:00:04", "12:00:15")], "fine"],
    ["one failed before", [delivering("11:59:50")], "fine"],
    ["none ever failed", [delivering(null)], "fine"],
    [
      "none to here failed, one to another address did",
      [delivering(null), delivering("12:00:04", null, "b")],
      "fine",
    ],
    ["only to another address is anything sent, and failed", [delivering("12:00:04", null, "b")], "failed"],
  ])("is judged by its subscriptions: %s", (_, subscriptions, verdict) => {
    expect(deliveryVerdict(subscriptions, company, { sinceMs, everAccepted: false })).toBe(verdict);
  });

  test("is unknown without a subscription that leads here, unless a delivery was accepted before", () => {
    expect(deliveryVerdict([], company, { sinceMs, everAccepted: false })).toBe("unknown");
    expect(deliveryVerdict([], company, { sinceMs, everAccepted: true })).toBe("fine");
  });
});
