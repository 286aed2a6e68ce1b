import { describe, expect, test } from "vitest";
import type { Sandbox } from "../support/sandbox/control.ts";
import type { SandboxOptions } from "../../connectors/fintoro/sandbox/sandbox.ts";
import { parseShares, type DeliveryShares } from "../../connectors/fintoro/sandbox/webhooks/sender.ts";
import { openSandbox, post, WoundClock } from "../support/sandbox/sandbox.ts";
import { isSigned, openSink, type Treatment, type WebhookSink } from "../support/sandbox/webhook-sink.ts";

/** Ids hang on the seed. */
const firstClient = 101;

/** A sandbox that sends every event to a sink, with retries a thousand times faster. */
async function opened(options: SandboxOptions = {}): Promise<{ sandbox: Sandbox; sink: WebhookSink }> {
  const sink = await openSink();
  const sandbox = await openSandbox({ webhooks: [{ url: sink.url }], retryScale: 0.001, ...options });
  return { sandbox, sink };
}

const changeClient = ({ control }: Sandbox, name = "Zmenený") => {
  const id = firstClient;
  control.update("clients", id, { name });
  return id;
};
const outcomes = ({ control }: Sandbox) => control.webhooks.history().map(({ outcome }) => outcome);

describe("a delivery", () => {
  test("is one signed POST with the thin payload and the time it was sent", async () => {
    const { sandbox, sink } = await opened();
    const before = Math.floor(Date.now() / 1000);
    const id = changeClient(sandbox);
    await sandbox.control.webhooks.idle();
    const [request, ...others] = sink.received;
    if (!request) throw new Error("nothing came");
    const [event] = sandbox.control.events();
    expect(others).toEqual([]);
    expect(request.method).toBe("POST");
    expect(request.headers["content-type"]).toBe("application/json");
    expect(request.json).toEqual(event);
    expect(Object.keys(request.json)).toEqual(["id", "type", "occurredAt", "resource"]);
    expect(request.json).toMatchObject({ type: "clients.updated", resource: { type: "client", id } });
    expect(isSigned(request, sandbox.webhookSecrets[0] ?? "")).toBe(true);
    expect(isSigned(request, "another")).toBe(false);
    const sentAt = Number(request.headers["webhook-timestamp"]);
    expect(sentAt).toBeGreaterThanOrEqual(before);
    expect(sentAt).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
    expect(outcomes(sandbox)).toEqual(["delivered"]);
  });

  test("goes to active subscriptions of that event, each signed with its own secret", async () => {
    const [first, second] = [await openSink(), await openSink()];
    const webhooks = [{ url: first.url, secret: "one", events: ["clients.updated"] }, { url: second.url }];
    const sandbox = await openSandbox({ webhooks });
    const wish = { url: first.url, isActive: false, subscribedEvents: ["clients.updated"] };
    await post(sandbox, "/webhook-subscriptions", wish);
    changeClient(sandbox);
    sandbox.control.create("suppliers", { name: "Dodávateľ" });
    await sandbox.control.webhooks.idle();
    expect(first.received.map(({ json }) => json["type"])).toEqual(["clients.updated"]);
    expect(first.received.every((request) => isSigned(request, "one"))).toBe(true);
    expect(second.received.map(({ json }) => json["type"])).toEqual(["clients.updated", "suppliers.created"]);
    expect(second.received.every((one) => isSigned(one, sandbox.webhookSecrets[1] ?? ""))).toBe(true);
  });
});

describe("a delivery that fails", () => {
  test("is tried five times, at about 10, 100, 1,000 and 10,000 s, each sent as of then, and then no more", async () => {
    const clock = new WoundClock();
    const { sandbox, sink } = await opened({ retryScale: 1, clock });
    sink.treat(500);
    changeClient(sandbox);
    for (const [index, waitS] of [10, 100, 1_000, 10_000].entries()) {
      await expect.poll(() => outcomes(sandbox)).toHaveLength(index + 1);
      clock.wind(waitS * 940);
      await sandbox.control.webhooks.idle(1_000, { withinMs: 0 });
      expect(sink.received).toHaveLength(index + 1);
      clock.wind(waitS * 120);
    }
    await expect.poll(() => outcomes(sandbox)).toEqual(["retry", "retry", "retry", "retry", "failed"]);
    expect([clock.sleeping, sandbox.control.webhooks.pending()]).toEqual([0, 0]);
    const sentAt = sink.received.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(new Set(sentAt).size).toBe(5);
    expect(new Set(sink.received.map(({ body }) => body.toString())).size).toBe(1);
  });

  test.each<[Treatment, number | null, string | null]>([
    [500, 500, null],
    [304, 304, null],
    ["redirect", 307, null],
    ["reset", null, "other side closed"],
    ["hang", null, "no answer within 900 ms"],
    ["drip", null, "no answer within 900 ms"],
  ])("by %s is tried again, and is delivered when that is over", async (treatment, status, error) => {
    const deliveryTimeoutMs = error?.startsWith("no answer") ? 900 : 60_000;
    const { sandbox, sink } = await opened({ deliveryTimeoutMs });
    sink.treat((_, index) => (index === 0 ? treatment : 200));
    changeClient(sandbox);
    await sandbox.control.webhooks.idle();
    expect(sandbox.control.webhooks.history()).toMatchObject([
      { type: "clients.updated", attempt: 1, status, error, outcome: "retry" },
      { attempt: 2, status: 200, error: null, outcome: "delivered" },
    ]);
    expect(sandbox.control.failures()).toEqual([]);
  });
});

/** The places, among 200 events, of those that came. */
const came = async (deliveries: Partial<DeliveryShares>, seed = 1) => {
  const { sandbox, sink } = await opened({ deliveries, seed, deliveryConcurrency: 1 });
  for (let i = 0; i < 200; i++) changeClient(sandbox, `Meno ${i}`);
  await sandbox.control.webhooks.idle(60_000);
  const ids = sandbox.control.events().map(({ id }) => id);
  return sink.received.map(({ json }) => ids.indexOf(String(json["id"])));
};

describe("faults of deliveries", () => {
  test("losses are never sent, and the seed says which", async () => {
    const [first, again, other] = [
      await came({ losses: 0.2 }),
      await came({ losses: 0.2 }),
      await came({ losses: 0.2 }, 2),
    ];
    expect(first.length).toBeGreaterThan(140);
    expect(first.length).toBeLessThan(180);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test("duplicates come once more, and reordered ones are overtaken", async () => {
    const places = await came({ duplicates: 0.2, reorder: 0.5 });
    expect(new Set(places).size).toBe(200);
    expect(places.length - 200).toBeGreaterThan(20);
    expect(
      places.filter((place, index) => places.slice(0, index).some((one) => one > place)).length,
    ).toBeGreaterThan(50);
  });

  test("are written as shares", () => {
    expect(parseShares("duplicates:0.2, losses:1,")).toEqual({ duplicates: 0.2, losses: 1 });
    for (const bad of [
      "losses",
      "losses:",
      "losses:2",
      "losses:-1",
      "loss:0.1",
      "losses:0.1:0.2",
      "losses:x",
    ])
      expect(() => parseShares(bad), bad).toThrow("cannot be read");
  });
});
