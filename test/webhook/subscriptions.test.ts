import { describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import type { CompanyConfig } from "../../src/config/config.ts";
import { endpointFault } from "../../src/webhook/subscriptions/endpoint-rules.ts";
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
  const off = { id: 5, active: false };
  const nothing = `the service delivers nothing to ${publicUrl}:`;
  const leading = `${nothing} each of the subscriptions 1, 3 leads elsewhere`;
  const switchedOff = `${nothing} subscription 5 is off, switched off by the service`;
  const lacking = "subscription 6 lacks 1 of 1 events that are needed: invoices.created";
  const failing = `deliveries of subscription 4 fail: the last one did at ${at("10:00:00")}`;

  test.each<[string, Partial<Subscription>[], string[]]>([
    ["one delivers all", [{}], []],
    ["two deliver all together", [{ events: [] }, {}], []],
    ["one beside others that are off", [{}, off], []],
    ["there is none", [], [`${nothing} there is no subscription`]],
    ["they lead elsewhere", [{ url: elsewhere }, { id: 3, url: "odd" }], [leading]],
    ["it is off", [off], [`${nothing} subscription 5 is off`]],
    ["the service switched it off", [{ ...off, disabled_reason: "failures" }], [switchedOff]],
    ["it lacks events", [{ id: 6, events: ["units.created"] }], [lacking]],
    ["its deliveries fail", [failed], [failing]],
    ["a delivery failed and arrived later", [{ ...failed, last_success_at: at("10:00:15") }], []],
  ])("are judged: %s", (_, all, found) => {
    expect(problems(all.map(subscription))).toEqual(found);
  });

  test("do not fail where a delivery was stored since", () => {
    expect(problems([failed], { lastReceivedMs: Date.parse(at("10:00:01")) })).toEqual([]);
    expect(problems([failed], { lastReceivedMs: Date.parse(at("09:59:59")) })).toHaveLength(1);
  });

  test("lead here, whatever the service said before, where a delivery was stored since", () => {
    const readAtMs = Date.parse(at("10:00:00"));
    const judgedAfter = (time: string) =>
      problems([subscription({ url: elsewhere })], { readAtMs, lastReceivedMs: Date.parse(at(time)) });
    expect(judgedAfter("10:00:01")).toEqual([]);
    expect(judgedAfter("09:59:59")).toHaveLength(1);
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

const addresses: Readonly<Record<string, readonly string[]>> = {
  "hooks.example.com": ["8.8.8.8", "2a00:1450::1"],
  "inside.example.com": ["8.8.8.8", "10.1.2.3"],
  "nothing.example.com": [],
};

function lookup(host: string): Promise<readonly string[]> {
  const found = addresses[host];
  return found ? Promise.resolve(found) : Promise.reject(new Error("ENOTFOUND"));
}

const judged = (url: string, loopback = false) => endpointFault(url, { lookup, loopback });

describe("an endpoint", () => {
  const fine = "https://hooks.example.com/webhooks/acme https://8.8.8.8:8443/in https://[2a00:1450::1]/";
  test.each(fine.split(" "))("%s is fine", async (url) => {
    expect(await judged(url)).toBeNull();
  });

  const hidden =
    "LOCALHOST. a.localhost printer.local. 127.1 0x7f000001 192.168.1.5 [fd00::1] [::ffff:10.0.0.1]";
  test.each<[string, string]>([
    ["hooks.example.com/webhooks/acme", "is no URL"],
    ["http://hooks.example.com/", "is not https://"],
    ["ftp://hooks.example.com/", "is not https://"],
    ["https://me@hooks.example.com/", "a user name or password"],
    ["https://me:hunter2@hooks.example.com/", "a user name or password"],
    ["https://printer.local/", "printer.local is not a public address"],
    ["https://inside.example.com/", "inside.example.com (10.1.2.3) is not a public address"],
    ...hidden.split(" ").map((host): [string, string] => [`https://${host}/`, "is not a public address"]),
  ])("%s is refused before the service is asked, and no password is shown", async (url, what) => {
    const fault = await judged(url);
    expect(fault).toMatchObject({ what: expect.stringContaining(what), certain: true });
    expect(JSON.stringify(fault)).not.toContain("hunter2");
  });

  test.each(["nowhere", "nothing"])(
    "%s.example.com means nothing here: it may to the service",
    async (name) => {
      const what = expect.stringContaining("cannot be resolved here") as string;
      expect(await judged(`https://${name}.example.com/`)).toMatchObject({ what, certain: false });
    },
  );

  test("on this machine is fine for a service on this machine, and only for that", async () => {
    for (const url of ["http://127.0.0.1:8787/webhooks/acme", "https://localhost/", "http://[::1]:1/"]) {
      expect(await judged(url, true)).toBeNull();
      expect(await judged(url, false)).toMatchObject({ certain: true });
    }
    expect(await judged("http://192.168.1.5/", true)).toMatchObject({ certain: true });
    expect(await judged("http://me:word@127.0.0.1/", true)).toMatchObject({ certain: true });
  });
});

const embedding = ["64:ff9b::8.8.8.8", "::ffff:8.8.8.8"];
const others =
  "::8.8.8.8 fe80::1%eth0 ::ffff:10.0.0.1 ::ffff:a00:1 64:ff9b::10.0.0.1 64:ff9b:: 64:ff9b:1::8.8.8.8";

test.each([...embedding, ...others.split(" ")])("an answer of DNS is judged: %s", async (address) => {
  const rules = { lookup: () => Promise.resolve([address]), loopback: false };
  const fault = await endpointFault("https://hooks.example.com/", rules);
  expect(fault === null).toBe(embedding.includes(address));
});
