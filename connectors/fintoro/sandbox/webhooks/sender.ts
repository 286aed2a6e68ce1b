import { createHmac } from "node:crypto";
import { EventEmitter, once, setMaxListeners } from "node:events";
import { isoTime, systemClock, type Clock } from "../../../../src/base/clock.ts";
import { BoundedLog } from "../base/bounded-log.ts";
import { SeededRandom } from "../base/seeded-random.ts";
import type { Company } from "../domain/company-state.ts";
import type { Subscription } from "../model/company-records.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import { DeliveryFaults, type DeliveryShares } from "./delivery-faults.ts";
import { Poster, type PostResult } from "./poster.ts";

/** How deliveries are sent. */
export interface SenderOptions {
  readonly seed: number;
  readonly shares: Partial<DeliveryShares>;
  /** Waits between attempts as a multiple of the service's; 0.001 is a thousand times faster. */
  readonly retryScale: number;
  readonly timeoutMs: number;
  /** Requests to one subscription at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** Receives bugs of the sandbox itself. */
  readonly onBug: (cause: unknown) => void;
}

/**
 * `retry`: another attempt follows. `failed`: that was the last one. `lost`: a delivery fault, never sent.
 * `dropped`: the subscription was deactivated or deleted while the delivery waited.
 */
type AttemptOutcome = "delivered" | "retry" | "failed" | "lost" | "dropped";

/** One event on its way to one subscription. */
interface Delivery {
  readonly event: SandboxEvent;
  readonly body: Buffer;
  readonly subscription: number;
  /** Attempts made. */
  attempts: number;
}

/** The deliveries of one subscription that may go out now, in order. */
interface SendQueue {
  readonly waiting: Delivery[];
  sending: number;
}

/** Between attempts 1-2, 2-3, 3-4, 4-5 (interface document). */
const retryDelaysMs = [10_000, 100_000, 1_000_000, 10_000_000];
const jitterShare = 0.05;

/** From the change to the first attempt: usually after the answer to the client that made the change. */
const firstDelayMs = 5;

const notSent: PostResult = { status: null, error: null };

/**
 * Sends a company's events to its subscriptions as the interface document promises: at least once, five
 * attempts each. Deliveries wait in memory and end with the sandbox.
 */
export class Sender {
  /** The newest 50,000 attempts. */
  readonly attempts = new BoundedLog<ReturnType<typeof attemptOf>>(50_000);
  readonly faults: DeliveryFaults;
  readonly poster: Poster;
  readonly #company: Company;
  readonly #options: SenderOptions;
  readonly #jitter: SeededRandom;
  readonly #queues = new Map<number, SendQueue>();
  /** Deliveries without an end, and when their next attempt is due on the clock; 0 for at once. */
  readonly #pending = new Map<Delivery, number>();
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;
  readonly #ended = new EventEmitter().setMaxListeners(0);

  constructor(company: Company, options: SenderOptions) {
    this.#company = company;
    this.#options = options;
    this.#jitter = new SeededRandom(options.seed);
    this.faults = new DeliveryFaults(options.seed, options.shares);
    const allowLoopback = company.settings.allowLoopbackWebhooks;
    this.poster = new Poster({ timeoutMs: options.timeoutMs, allowLoopback });
    setMaxListeners(0, this.#closing.signal);
    this.#unsubscribe = company.events.subscribe((event) => this.#accept(event));
  }

  /** Deliveries that are neither delivered nor given up; without retries due later than `ms` from now. */
  pendingWithin(ms: number): number {
    const untilMs = this.#options.clock.monotonicMs() + ms;
    return [...this.#pending.values()].filter((dueMs) => dueMs <= untilMs).length;
  }

  /** Resolves after the next attempt. */
  nextAttempt(): Promise<unknown> {
    return once(this.#ended, "attempt");
  }

  close(): void {
    this.#unsubscribe();
    this.#closing.abort();
    this.#pending.clear();
    this.#queues.clear();
    this.poster.close();
    this.#ended.emit("attempt");
  }

  /** The headers of a delivery, signed over the body. */
  headersFor(eventId: string, body: Buffer, secret: string): Record<string, string> {
    return {
      "content-type": "application/json",
      "webhook-id": eventId,
      "webhook-timestamp": String(Math.floor(this.#options.clock.nowMs() / 1000)),
      "webhook-signature": createHmac("sha256", secret).update(body).digest("hex"),
    };
  }

  #accept(event: SandboxEvent): void {
    const body = Buffer.from(JSON.stringify(event));
    for (const { id, isActive, subscribedEvents } of this.#company.tables.webhook_subscriptions.values()) {
      if (!isActive || !subscribedEvents.includes(event.type)) continue;
      const newDelivery = (): Delivery => ({ event, body, subscription: id, attempts: 0 });
      const heldMs = this.faults.next();
      if (heldMs.length === 0) this.#record(newDelivery(), notSent, "lost");
      for (const ms of heldMs) void this.#enqueue(newDelivery(), 0, systemClock, firstDelayMs + ms);
    }
  }

  /** Lets a delivery go out after `waitMs`. */
  async #enqueue(delivery: Delivery, dueMs: number, clock: Clock, waitMs: number): Promise<void> {
    this.#pending.set(delivery, dueMs);
    await clock.sleep(waitMs, this.#closing.signal);
    if (this.#closing.signal.aborted) return;
    this.#pending.set(delivery, 0);
    const { subscription } = delivery;
    const queue = this.#queues.get(subscription) ?? { waiting: [], sending: 0 };
    this.#queues.set(subscription, queue);
    queue.waiting.push(delivery);
    this.#sendFrom(queue);
  }

  #sendFrom(queue: SendQueue): void {
    while (queue.sending < this.#options.concurrency) {
      const delivery = queue.waiting.shift();
      if (!delivery) return;
      queue.sending++;
      const fail = (cause: unknown) => {
        this.#pending.delete(delivery);
        this.#options.onBug(cause);
      };
      const end = () => {
        queue.sending--;
        this.#sendFrom(queue);
        this.#ended.emit("attempt");
      };
      void this.#attempt(delivery).catch(fail).finally(end);
    }
  }

  /** Uses the subscription as it is now: its URL and its current secret. */
  async #attempt(delivery: Delivery): Promise<void> {
    const subscription = this.#subscription(delivery);
    if (!subscription?.isActive) {
      this.#record(delivery, notSent, "dropped");
      return;
    }
    const { url, secret } = subscription;
    const headers = this.headersFor(delivery.event.id, delivery.body, secret);
    const result = await this.poster.post({ url, headers, body: delivery.body });
    if (this.#closing.signal.aborted) return;
    delivery.attempts++;
    const { status } = result;
    const succeeded = status !== null && status >= 200 && status < 300;
    const delayMs = succeeded ? undefined : retryDelaysMs[delivery.attempts - 1];
    this.#record(delivery, result, succeeded ? "delivered" : delayMs === undefined ? "failed" : "retry");
    this.#stamp(delivery, succeeded);
    if (delayMs !== undefined) this.#retry(delivery, delayMs);
  }

  #stamp(delivery: Delivery, succeeded: boolean): void {
    const subscription = this.#subscription(delivery);
    if (!subscription) return;
    const nowMs = this.#options.clock.nowMs();
    const stamp = succeeded ? { lastSuccessAtMs: nowMs } : { lastFailureAtMs: nowMs };
    this.#company.tables.webhook_subscriptions.replace({ ...subscription, ...stamp });
  }

  #retry(delivery: Delivery, delayMs: number): void {
    const { clock, retryScale } = this.#options;
    const waitMs = delayMs * retryScale * (1 + jitterShare * (2 * this.#jitter.next() - 1));
    void this.#enqueue(delivery, clock.monotonicMs() + waitMs, clock, waitMs);
  }

  #subscription({ subscription }: Delivery): Subscription | undefined {
    return this.#company.tables.webhook_subscriptions.get(subscription);
  }

  #record(delivery: Delivery, result: PostResult, outcome: AttemptOutcome): void {
    const at = isoTime(this.#options.clock.nowMs());
    this.attempts.add(attemptOf(delivery, at, result, outcome));
    if (outcome !== "retry") this.#pending.delete(delivery);
  }
}

/** One attempt and how it ended; `attempt` counts from 1, and is 0 for what was lost or dropped before any. */
function attemptOf(delivery: Delivery, at: string, result: PostResult, outcome: AttemptOutcome) {
  const { event, subscription, attempts: attempt } = delivery;
  return { eventId: event.id, type: event.type, subscription, attempt, at, ...result, outcome };
}
