import { describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import type { CompanyConfig } from "../../src/config/config.ts";
import type { Subscription } from "../../src/webhook/subscriptions/subscription-client.ts";
import {
  expectedSubscriptions,
  subscriptionProblems,
  type SubscriptionFacts,
} from "../../src/webhook/subscriptions/subscription-problems.ts";
import { subscription } from "../support/status/company-view.ts";

const publicUrl = "https://hooks.example.com/webhooks/acme";
const elsewhere = "https://chat.example.com/a-secret-path";

function problems(all: readonly Subscription[], facts: Partial<SubscriptionFacts> = {}): string[] {
  const receiver = { name: "acme", webhook: { publicUrl } };
  const wanted = { receiver, needed: ["invoices.created"], lastReceivedMs: null };
  return subscriptionProblems({ all, ...wanted, ...facts });
}

const at = (time: string) => `2026-11-20T${time}Z`;

const company = (webhook: object) =>
  ({ name: "acme", webhook: { publicUrl: null, secrets: [], ...webhook } }) as unknown as CompanyConfig;

describe("subscriptions", () => {
  const failed = subscription({ id: 4, last_success_at: at("09:00:00"), last_failure_at: at("10:00:00") });

  test.each<[string, Subscription[], string[]]>([
    ["one delivers all", [subscription()], []],
    ["two deliver all together", [subscription({ events: [] }), subscription()], []],
    ["one beside others that are off", [subscription(), subscription({ active: false })], []],
    ["there is none", [], [`the service delivers nothing to ${publicUrl}: there is no subscription`]],
    [
      "they lead elsewhere",
      [subscription({ id: 2, url: elsewhere }), subscription({ id: 3, url: "odd" })],
      [`the service delivers nothing to ${publicUrl}: each of the subscriptions 2, 3 leads elsewhere`],
    ],
    [
      "it is off",
      [subscription({ id: 5, active: false })],
      [`the service delivers nothing to ${publicUrl}: subscription 5 is off`],
    ],
    [
      "the service switched it off",
      [subscription({ id: 5, active: false, disabled_reason: "too many failures" })],
      [`the service delivers nothing to ${publicUrl}: subscription 5 is off, switched off by the service`],
    ],
    [
      "it lacks events",
      [subscription({ id: 6, events: ["units.created"] })],
      ["subscription 6 lacks 1 of 1 events that are needed: invoices.created"],
    ],
    [
      "its deliveries fail",
      [failed],
      [`deliveries of subscription 4 fail: the last one did at ${at("10:00:00")}`],
    ],
    [
      "a delivery failed and arrived later",
      [subscription({ ...failed, last_success_at: at("10:00:15") })],
      [],
    ],
  ])("are judged: %s", (_, all, found) => {
    expect(problems(all)).toEqual(found);
  });

  test("do not fail where a delivery was stored since", () => {
    expect(problems([failed], { lastReceivedMs: Date.parse(at("10:00:01")) })).toEqual([]);
    expect(problems([failed], { lastReceivedMs: Date.parse(at("09:59:59")) })).toHaveLength(1);
  });

  test("are ours by the path where the config has no address; then others may be as well", () => {
    const receiver = { name: "acme", webhook: { publicUrl: null } };
    expect(problems([subscription({ active: false })], { receiver })).toHaveLength(1);
    expect(problems([subscription({ url: elsewhere })], { receiver })).toEqual([]);
    expect(problems([], { receiver })).toHaveLength(1);
  });
});

describe("what a config expects of them", () => {
  const { resources } = declaration;
  test("is nothing without an address and a secret", () => {
    expect(expectedSubscriptions(company({}), declaration, resources)).toBeNull();
    expect(expectedSubscriptions(company({ publicUrl }), declaration, resources)).not.toBeNull();
    expect(expectedSubscriptions(company({ secrets: ["s"] }), declaration, resources)).not.toBeNull();
  });

  test("are the events about what is mirrored, and none that nothing is read for", () => {
    const some = resources.filter(({ name }) => name === "invoices");
    const all = expectedSubscriptions(company({ publicUrl }), declaration, resources)?.needed ?? [];
    const ofInvoices = ["created", "updated", "deleted", "paid"].map((what) => `invoices.${what}`);
    expect(expectedSubscriptions(company({ publicUrl }), declaration, some)?.needed).toEqual(ofInvoices);
    const kept = declaration.events.filter(({ action }) => action === "keep").map(({ type }) => type);
    expect(new Set([...all, ...kept])).toEqual(new Set(declaration.events.map(({ type }) => type)));
    expect(all.filter((type) => kept.includes(type))).toEqual([]);
  });
});
