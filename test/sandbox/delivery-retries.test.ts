import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { openSandbox, WoundClock } from "../support/sandbox/sandbox.ts";
import { isSigned, openSink, type Treatment } from "../support/sandbox/webhook-sink.ts";

/** Ids hang on the seed. */
const firstClient = 101;
const change = ({ control }: Sandbox) => void control.update("clients", firstClient, { name: "Zmenený" });
const outcomes = ({ control }: Sandbox) => control.webhooks.history().map(({ outcome }) => outcome);

describe("a delivery that fails", () => {
  test("is tried five times, at about 10, 100, 1,000 and 10,000 s, each sent as of then, and then no more", async () => {
    const clock = new WoundClock();
    const sink = await openSink();
    const sandbox = await openSandbox({ webhooks: [{ url: sink.url, secret: "s" }], clock });
    sink.treat(500);
    change(sandbox);
    const sentAtS: number[] = [];
    for (const [index, waitS] of [10, 100, 1_000, 10_000].entries()) {
      await expect.poll(() => outcomes(sandbox)).toHaveLength(index + 1);
      sentAtS.push(Math.floor(clock.nowMs() / 1000));
      expect(sandbox.control.webhooks.pending()).toBe(1);
      clock.wind(waitS * 940);
      await sandbox.control.webhooks.idle(1_000, { withinMs: 0 });
      expect(sink.received).toHaveLength(index + 1);
      clock.wind(waitS * 120);
    }
    await expect.poll(() => outcomes(sandbox)).toHaveLength(5);
    sentAtS.push(Math.floor(clock.nowMs() / 1000));
    expect(outcomes(sandbox)).toEqual(["retry", "retry", "retry", "retry", "failed"]);
    expect(clock.sleeping).toBe(0);
    expect(sandbox.control.webhooks.pending()).toBe(0);
    expect(sink.received.map(({ headers }) => Number(headers["webhook-timestamp"]))).toEqual(sentAtS);
    expect(new Set(sink.received.map(({ body }) => body.toString())).size).toBe(1);
    expect(sink.received.every((request) => isSigned(request, "s"))).toBe(true);
  });

  test.each<[Treatment, number | null, string | null]>([
    [500, 500, null],
    [404, 404, null],
    [304, 304, null],
    ["redirect", 307, null],
    ["reset", null, "socket hang up"],
    ["hang", null, "no answer within 60 ms"],
    ["drip", null, "no answer within 60 ms"],
  ])("by %s is tried again, and is delivered when that is over", async (treatment, status, error) => {
    const sink = await openSink();
    const webhooks = [{ url: sink.url }];
    const deliveryTimeoutMs = error?.startsWith("no answer") ? 60 : 60_000;
    const sandbox = await openSandbox({ webhooks, retryScale: 0.001, deliveryTimeoutMs });
    sink.treat((_, index) => (index === 0 ? treatment : 200));
    change(sandbox);
    await sandbox.control.webhooks.idle();
    const [event] = sandbox.control.events();
    expect(sandbox.control.webhooks.history()).toMatchObject([
      { eventId: event?.id, type: "clients.updated", attempt: 1, status, error, outcome: "retry" },
      { eventId: event?.id, attempt: 2, status: 200, error: null, outcome: "delivered" },
    ]);
    expect(sink.received.map(({ path }) => path)).toEqual(["/webhooks/acme", "/webhooks/acme"]);
    expect(sandbox.control.failures()).toEqual([]);
  });

  test("by a receiver that is not there is tried again, too", async () => {
    const sink = await openSink();
    const sandbox = await openSandbox({ webhooks: [{ url: sink.url }], retryScale: 0.000_01 });
    await sink.close();
    change(sandbox);
    await sandbox.control.webhooks.idle();
    expect(outcomes(sandbox)).toEqual(["retry", "retry", "retry", "retry", "failed"]);
    expect(sandbox.control.webhooks.history()[0]?.error).toContain("ECONNREFUSED");
  });
});

describe("right before sending the endpoint is checked again", () => {
  test.each([
    ["http://127.0.0.1:9/in", "not sent: the URL is not https"],
    ["https://127.0.0.1:9/in", "not sent: the host is no public address"],
    ["https://user:word@hooks.firma.sk/in", "not sent: the URL holds credentials"],
    ["https://sklad.local/in", "not sent: the host is no public address"],
    ["no url", "not sent: the URL cannot be read"],
  ])("%s is not asked, and that counts as a failed attempt", async (url, error) => {
    const sink = await openSink();
    const webhooks = [{ url: "https://hooks.firma.sk/in" }];
    const sandbox = await openSandbox({ webhooks, allowLoopbackWebhooks: false, retryScale: 0.000_01 });
    const [id = 0] = subscriptionIds(sandbox).slice(-1);
    sandbox.control.alter("webhook_subscriptions", id, { url });
    change(sandbox);
    await sandbox.control.webhooks.idle();
    expect(sink.received).toEqual([]);
    expect(outcomes(sandbox)).toEqual(["retry", "retry", "retry", "retry", "failed"]);
    expect(sandbox.control.webhooks.history()[0]).toMatchObject({ status: null, error });
  });
});

function subscriptionIds({ control }: Sandbox): number[] {
  return [...(control.snapshot().get("webhook_subscriptions")?.keys() ?? [])];
}
