import { describe, expect, test } from "vitest";
import { startSandbox, type Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import type { SandboxOptions } from "../../connectors/fintoro/sandbox/sandbox-options.ts";
import { get, openSandbox, post, put, remove, testDay, type Dict } from "../support/sandbox/sandbox.ts";
import { isSigned, openSink, type WebhookSink } from "../support/sandbox/webhook-sink.ts";

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

  test("comes after the answer to the request that made the change", async () => {
    const { sandbox, sink } = await opened();
    const made = await post(sandbox, "/clients", { name: "Nový" });
    expect([made.status, sink.received.length]).toEqual([201, 0]);
    await sandbox.control.webhooks.idle();
    expect(sink.received.map(({ json }) => json["type"])).toEqual(["clients.created"]);
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

  test("marks when the subscription last succeeded and failed, and leaves it enabled", async () => {
    const { sandbox, sink } = await opened({ retryScale: 0.000_01 });
    const subscription = async () => {
      const list = (await get(sandbox, "/webhook-subscriptions")).data;
      return list.find(({ url }) => url === sink.url) ?? {};
    };
    const marks = { lastSuccessAt: null, lastFailureAt: null, isActive: true };
    expect(await subscription()).toMatchObject(marks);
    changeClient(sandbox);
    await sandbox.control.webhooks.idle();
    expect(await subscription()).toMatchObject({ lastSuccessAt: expect.any(String), lastFailureAt: null });
    sink.treat(500);
    changeClient(sandbox);
    await sandbox.control.webhooks.idle();
    expect(outcomes(sandbox)).toEqual(["delivered", "retry", "retry", "retry", "retry", "failed"]);
    expect(await subscription()).toMatchObject({ lastFailureAt: expect.any(String), isActive: true });
  });

  test("uses the secret and the URL of the moment it is sent", async () => {
    const { sandbox, sink } = await opened({ retryScale: 0.03 });
    const other = await openSink();
    sink.treat(503);
    changeClient(sandbox);
    await sink.arrived(1);
    const path = await subscriptionPath(sandbox, sink);
    const rotated = await post(sandbox, `${path}/rotate-secret`, {});
    const wish = { url: other.url, isActive: true, subscribedEvents: ["clients.updated"] };
    expect((await put(sandbox, path, wish)).status).toBe(200);
    await other.arrived(1);
    const [moved] = other.received;
    expect(moved && isSigned(moved, String(rotated.json["plainTextSecret"]))).toBe(true);
    expect(sandbox.control.secret(Number(path.split("/").at(-1)))).toBe(rotated.json["plainTextSecret"]);
  });

  test.each(["deactivated", "deleted"])("of a subscription that is %s is not tried again", async (how) => {
    const { sandbox, sink } = await opened({ retryScale: 0.03 });
    sink.treat(500);
    changeClient(sandbox);
    await sink.arrived(1);
    const path = await subscriptionPath(sandbox, sink);
    const wish = { url: sink.url, isActive: false, subscribedEvents: ["clients.updated"] };
    if (how === "deleted") await remove(sandbox, path);
    else await put(sandbox, path, wish);
    await sandbox.control.webhooks.idle(5_000, { withinMs: 60_000 });
    expect(sink.received).toHaveLength(1);
    expect(outcomes(sandbox)).toEqual(["retry", "dropped"]);
    changeClient(sandbox);
    expect(sandbox.control.webhooks.pending()).toBe(0);
  });

  test("is each company's own", async () => {
    const { sandbox, sink } = await opened({ companies: 2 });
    sandbox.control.create("suppliers", { name: "Cudzí" }, 1);
    sandbox.control.create("suppliers", { name: "Vlastný" });
    await sandbox.control.webhooks.idle();
    expect(sink.received.map(({ json }) => json["id"])).toEqual(
      sandbox.control.events(0).map(({ id }) => id),
    );
    expect(sandbox.control.webhooks.history(undefined, 1)).toEqual([]);
  });
});

describe("many deliveries", () => {
  test("go out a few at a time, no more than that", async () => {
    const { sandbox, sink } = await opened({ deliveryConcurrency: 3 });
    sink.treat(async (_, index) => {
      if (index < 3) await sink.arrived(3);
      return 204;
    });
    for (let i = 0; i < 60; i++) changeClient(sandbox, `Meno ${i}`);
    await sandbox.control.webhooks.idle();
    expect(sink.mostOpen).toBe(3);
    expect(new Set(sink.received.map(({ json }) => json["id"])).size).toBe(60);
  });

  test("stay strictly in order one at a time", async () => {
    const { sandbox, sink } = await opened({ deliveryConcurrency: 1 });
    for (let i = 0; i < 40; i++) changeClient(sandbox, `Meno ${i}`);
    await sandbox.control.webhooks.idle();
    expect(sink.received.map(({ json }) => json["id"])).toEqual(sandbox.control.events().map(({ id }) => id));
  });
});

test("a sandbox that ends breaks off what is under way and leaves no timer behind", async () => {
  const sink = await openSink();
  const sandbox = await startSandbox({ today: testDay, webhooks: [{ url: sink.url }] });
  sink.treat((_, index) => (index === 0 ? 500 : "hang"));
  changeClient(sandbox);
  await expect.poll(() => outcomes(sandbox)).toEqual(["retry"]);
  changeClient(sandbox);
  await sink.arrived(2);
  changeClient(sandbox);
  const before = timers();
  await sandbox.close();
  expect(timers()).toBeLessThanOrEqual(before - 1);
  expect(sandbox.control.webhooks.pending()).toBe(0);
  expect(sandbox.control.failures()).toEqual([]);
});

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

async function subscriptionPath(sandbox: Sandbox, sink: WebhookSink): Promise<string> {
  const list: Dict[] = (await get(sandbox, "/webhook-subscriptions")).data;
  return `/webhook-subscriptions/${String(list.find(({ url }) => url === sink.url)?.["id"])}`;
}
