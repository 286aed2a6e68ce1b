import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../connectors/fintoro/sandbox/sandbox.ts";
import type { DeliveryShares } from "../../connectors/fintoro/sandbox/webhooks/delivery-faults.ts";
import { parseShares } from "../../connectors/fintoro/sandbox/webhooks/delivery-faults.ts";
import { openSandbox } from "../support/sandbox/sandbox.ts";
import { isSigned, openSink, type WebhookSink } from "../support/sandbox/webhook-sink.ts";

const firstClient = 101;

async function opened(deliveries: Partial<DeliveryShares>, seed = 1) {
  const sink = await openSink();
  const webhooks = [{ url: sink.url, secret: "s" }];
  const sandbox = await openSandbox({ webhooks, deliveries, seed, deliveryConcurrency: 1 });
  return { sandbox, sink };
}

async function emitEvents({ control }: Sandbox, count: number): Promise<void> {
  for (let i = 0; i < count; i++) control.update("clients", firstClient, { name: `Meno ${i}` });
  await control.webhooks.idle();
}

/** The events that came, by their place among those that happened. */
function places({ control }: Sandbox, { received }: WebhookSink): number[] {
  const ids = control.events().map(({ id }) => id);
  return received.map(({ json }) => ids.indexOf(String(json["id"])));
}

const inOrder = (list: readonly number[]) => list.toSorted((a, b) => a - b);
const all = Array.from({ length: 200 }, (_, i) => i);

describe("faults of deliveries", () => {
  test("none, unless asked for", async () => {
    const { sandbox, sink } = await opened({});
    await emitEvents(sandbox, 200);
    expect(places(sandbox, sink)).toEqual(all);
  });

  test("losses are never sent, neither at once nor later, and the seed says which", async () => {
    const came: number[][] = [];
    for (const seed of [1, 1, 2]) {
      const { sandbox, sink } = await opened({ losses: 0.2 }, seed);
      await emitEvents(sandbox, 200);
      came.push(places(sandbox, sink));
      const lost = sandbox.control.webhooks.history().filter(({ outcome }) => outcome === "lost");
      expect(lost.length).toBe(200 - sink.received.length);
      expect(lost.length).toBeGreaterThan(20);
      expect(lost.length).toBeLessThan(60);
      expect(sandbox.control.webhooks.pending()).toBe(0);
    }
    expect(came[0]).toEqual(came[1]);
    expect(came[0]).not.toEqual(came[2]);
  });

  test("duplicates are the same event once more, signed anew", async () => {
    const { sandbox, sink } = await opened({ duplicates: 0.2 });
    await emitEvents(sandbox, 200);
    const came = places(sandbox, sink);
    const again = came.length - new Set(came).size;
    expect(again).toBeGreaterThan(20);
    expect(again).toBeLessThan(60);
    expect([...new Set(inOrder(came))]).toEqual(all);
    expect(sink.received.every((request) => isSigned(request, "s"))).toBe(true);
    const counts = Map.groupBy(sink.received, ({ json }) => json["id"]);
    for (const copies of counts.values()) {
      expect(copies.length).toBeLessThanOrEqual(2);
      expect(new Set(copies.map(({ body }) => body.toString())).size).toBe(1);
    }
  });

  test("reordered ones are overtaken by later ones, and still come, soon", async () => {
    const { sandbox, sink } = await opened({ reorder: 0.5 });
    const startMs = performance.now();
    await emitEvents(sandbox, 200);
    const came = places(sandbox, sink);
    const overtaken = came.filter((place, index) => came.slice(0, index).some((other) => other > place));
    expect(overtaken.length).toBeGreaterThan(50);
    expect(inOrder(came)).toEqual(all);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });

  test("change while the sandbox runs", async () => {
    const { sandbox, sink } = await opened({ losses: 1 });
    await emitEvents(sandbox, 10);
    expect(sink.received).toEqual([]);
    sandbox.control.deliveries({ losses: 0 });
    await emitEvents(sandbox, 10);
    expect(places(sandbox, sink)).toEqual(all.slice(10, 20));
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

test("waiting for what does not come to an end says so", async () => {
  const { sandbox, sink } = await opened({});
  sink.treat("hang");
  sandbox.control.update("clients", firstClient, { name: "Zmenený" });
  await expect(sandbox.control.webhooks.idle(50)).rejects.toThrow("1 deliveries are still waiting");
  expect(sandbox.control.webhooks.pending()).toBe(1);
});
