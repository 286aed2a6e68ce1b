import { createHmac } from "node:crypto";
import type { Clock } from "../../../src/base/clock.ts";
import type { Random } from "../../../src/base/random.ts";
import type { ServiceEvent } from "./service-types.ts";

/** Brings one POST to the receiver: the status of its answer, or `lost` where none came back. */
export type Deliver = (headers: Readonly<Record<string, string>>, body: Buffer) => Promise<number | "lost">;

/** Waits before the attempts 2 to 5 (interface document, "Limits"). */
const retryDelaysMs = [10_000, 100_000, 1_000_000, 10_000_000];
/** Retries come about at these times. */
const jitterShare = 0.1;

/** One delivery as the service knows it. */
export interface SimulatedDelivery {
  readonly event: ServiceEvent;
  readonly body: Buffer;
  readonly firstAtMs: number;
  attempts: number;
  state: "pending" | "delivered" | "failed";
}

/** Sends each event as a signed delivery until it is acknowledged, five times at most, in simulated time. */
export class WebhookSender {
  readonly deliveries: SimulatedDelivery[] = [];
  private readonly parts: { clock: Clock; random: Random; secret: () => string; deliver: Deliver };
  private readonly closing = new AbortController();
  private pendingCount = 0;

  constructor(parts: WebhookSender["parts"]) {
    this.parts = parts;
  }

  /** Starts the delivery of an event; the first attempt leaves within half a second. Its body may be no JSON. */
  send(event: ServiceEvent, body = Buffer.from(JSON.stringify(event))): void {
    const { clock, random } = this.parts;
    const firstAtMs = clock.monotonicMs();
    const delivery: SimulatedDelivery = { event, body, firstAtMs, attempts: 0, state: "pending" };
    this.deliveries.push(delivery);
    this.pendingCount += 1;
    void this.attemptAll(delivery, random.next() * 500).finally(() => (this.pendingCount -= 1));
  }

  /** Deliveries that are neither acknowledged nor given up. */
  get pending(): number {
    return this.pendingCount;
  }

  /** Events that were never acknowledged, and that nobody sends any more. */
  gaps(): ServiceEvent[] {
    return this.deliveries.filter(({ state }) => state === "failed").map(({ event }) => event);
  }

  /** Sends no more; what is under way is not waited for. */
  close(): void {
    this.closing.abort();
  }

  private async attemptAll(delivery: SimulatedDelivery, firstWaitMs: number): Promise<void> {
    const { clock, random } = this.parts;
    const { signal } = this.closing;
    let waitMs: number | undefined = firstWaitMs;
    while (waitMs !== undefined) {
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      const answered = await this.attempt(delivery);
      if (answered !== "lost" && answered >= 200 && answered < 300) {
        delivery.state = "delivered";
        return;
      }
      const delayMs: number | undefined = retryDelaysMs[delivery.attempts - 1];
      waitMs = delayMs === undefined ? undefined : delayMs * (1 + jitterShare * (2 * random.next() - 1));
    }
    delivery.state = "failed";
  }

  private attempt(delivery: SimulatedDelivery): Promise<number | "lost"> {
    const { clock, secret, deliver } = this.parts;
    delivery.attempts += 1;
    return deliver(signedHeaders(delivery.event.id, delivery.body, secret(), clock.nowMs()), delivery.body);
  }
}

/** Headers of a delivery that leaves now; the signature covers the body only. */
function signedHeaders(eventId: string, body: Buffer, secret: string, nowMs: number): Record<string, string> {
  return {
    "content-type": "application/json",
    "webhook-id": eventId,
    "webhook-timestamp": String(Math.floor(nowMs / 1000)),
    "webhook-signature": createHmac("sha256", secret).update(body).digest("hex"),
  };
}
