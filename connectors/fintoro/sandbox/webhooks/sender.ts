import { createHmac } from "node:crypto";
import { setMaxListeners } from "node:events";
import { isoTime, systemClock, type Clock } from "../../../../src/base/clock.ts";
import type { Company } from "../domain/company-state.ts";
import { SeededRandom } from "../base/seeded-random.ts";
import type { SandboxEvent } from "../model/event-log.ts";
import type { Subscription } from "../model/company-records.ts";
import { History, type AttemptOutcome } from "./attempts.ts";
import { Mischief, type DeliveryShares } from "./delivery-faults.ts";
import { Poster, type PostResult } from "./poster.ts";
import { SendQueue } from "./send-queue.ts";

export interface CourierOptions {
  readonly seed: number;
  readonly shares: Partial<DeliveryShares>;
  /** 1 waits as long as the service does; 0.001 is a thousand times quicker. */
  readonly retryScale: number;
  readonly timeoutMs: number;
  /** Requests to one subscription at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** A bug of the sandbox itself. */
  readonly onBug: (cause: unknown) => void;
}

/** One event on its way to one subscription. */
interface Delivery {
  readonly event: SandboxEvent;
  readonly body: Buffer;
  readonly subscription: number;
  /** Attempts made. */
  attempts: number;
}

/** Between attempts 1-2, 2-3, 3-4, 4-5. */
const retryDelaysMs = [10_000, 100_000, 1_000_000, 10_000_000];
const jitterShare = 0.05;

/** From the change to the first attempt: after the answer to whoever made the change, as a rule. */
const momentMs = 5;

/**
 * Carries a company's events to its subscriptions, as the interface promises: at least once, five attempts
 * each. Everything waits in memory and is gone with the sandbox.
 */
export class Courier {
  readonly history = new History();
  readonly mischief: Mischief;
  readonly poster: Poster;
  readonly #company: Company;
  readonly #options: CourierOptions;
  readonly #jitter: SeededRandom;
  readonly #queues = new Map<number, SendQueue<Delivery>>();
  /** Deliveries that wait for their time, with when it comes: in real time, or on the clock for retries. */
  readonly #held = new Set<Delivery>();
  readonly #retries = new Map<Delivery, number>();
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;
  #onMove: (() => void)[] = [];

  constructor(company: Company, options: CourierOptions) {
    this.#company = company;
    this.#options = options;
    this.#jitter = new SeededRandom(options.seed);
    this.mischief = new Mischief(options.seed, options.shares);
    this.poster = new Poster({
      timeoutMs: options.timeoutMs,
      allowLoopback: company.settings.allowLoopbackWebhooks,
    });
    setMaxListeners(0, this.#closing.signal);
    this.#unsubscribe = company.events.subscribe((event) => this.#take(event));
  }

  /** Deliveries that are neither delivered nor given up. */
  get pending(): number {
    return this.pendingWithin(Number.POSITIVE_INFINITY);
  }

  /** The same without retries that are due later than that. */
  pendingWithin(ms: number): number {
    if (this.#closing.signal.aborted) return 0;
    const untilMs = this.#options.clock.monotonicMs() + ms;
    const soon = [...this.#retries.values()].filter((dueMs) => dueMs <= untilMs).length;
    const queued = [...this.#queues.values()].reduce((sum, { size }) => sum + size, 0);
    return this.#held.size + soon + queued;
  }

  /** Resolves when something has moved. */
  moved(): Promise<void> {
    return new Promise((resolve) => this.#onMove.push(resolve));
  }

  close(): void {
    this.#unsubscribe();
    this.#closing.abort();
    for (const queue of this.#queues.values()) queue.clear();
    this.#held.clear();
    this.#retries.clear();
    this.poster.close();
    this.#move();
  }

  #take(event: SandboxEvent): void {
    let body: Buffer | null = null;
    for (const { id, isActive, subscribedEvents } of this.#company.tables.webhook_subscriptions.values()) {
      if (!isActive || !subscribedEvents.includes(event.type)) continue;
      body ??= Buffer.from(JSON.stringify(event));
      const holds = this.mischief.next();
      const copies = holds.map((holdMs) => ({ holdMs, delivery: newDelivery(event, body as Buffer, id) }));
      if (copies.length === 0) this.#note(newDelivery(event, body, id), unsent, "lost");
      for (const { holdMs, delivery } of copies) {
        this.#held.add(delivery);
        void this.#release(delivery, momentMs + holdMs);
      }
    }
  }

  async #release(delivery: Delivery, ms: number): Promise<void> {
    await systemClock.sleep(ms, this.#closing.signal);
    if (this.#held.delete(delivery)) this.#queue(delivery.subscription).push(delivery);
  }

  #queue(subscription: number): SendQueue<Delivery> {
    const known = this.#queues.get(subscription);
    if (known) return known;
    const send = async (delivery: Delivery) => {
      await this.#attempt(delivery).catch(this.#options.onBug);
      setImmediate(() => this.#move());
    };
    const queue = new SendQueue(this.#options.concurrency, send);
    this.#queues.set(subscription, queue);
    return queue;
  }

  /** The subscription as it is now: its URL, and the secret of the day. */
  async #attempt(delivery: Delivery): Promise<void> {
    const subscription = this.#subscription(delivery);
    if (!subscription?.isActive) {
      this.#note(delivery, unsent, "dropped");
      return;
    }
    const { url, secret } = subscription;
    const headers = this.headersFor(delivery.event.id, delivery.body, secret);
    const result = await this.poster.post({ url, headers, body: delivery.body });
    if (this.#closing.signal.aborted) return;
    delivery.attempts++;
    this.#settle(delivery, result);
  }

  headersFor(eventId: string, body: Buffer, secret: string): Record<string, string> {
    return {
      "content-type": "application/json",
      "webhook-id": eventId,
      "webhook-timestamp": String(Math.floor(this.#options.clock.nowMs() / 1000)),
      "webhook-signature": createHmac("sha256", secret).update(body).digest("hex"),
    };
  }

  #settle(delivery: Delivery, result: PostResult): void {
    const { status } = result;
    const good = status !== null && status >= 200 && status < 300;
    const delayMs = retryDelaysMs[delivery.attempts - 1];
    const outcome = good ? "delivered" : delayMs === undefined ? "failed" : "retry";
    this.#note(delivery, result, outcome);
    const nowMs = this.#options.clock.nowMs();
    const subscription = this.#subscription(delivery);
    if (subscription) {
      const told = good ? { lastSuccessAtMs: nowMs } : { lastFailureAtMs: nowMs };
      this.#company.tables.webhook_subscriptions.replace({ ...subscription, ...told });
    }
    if (outcome === "retry") void this.#retry(delivery, delayMs ?? 0);
  }

  async #retry(delivery: Delivery, delayMs: number): Promise<void> {
    const { clock, retryScale } = this.#options;
    const waitMs = delayMs * retryScale * (1 + jitterShare * (2 * this.#jitter.next() - 1));
    this.#retries.set(delivery, clock.monotonicMs() + waitMs);
    await clock.sleep(waitMs, this.#closing.signal);
    if (this.#retries.delete(delivery)) this.#queue(delivery.subscription).push(delivery);
  }

  #subscription({ subscription }: Delivery): Subscription | undefined {
    return this.#company.tables.webhook_subscriptions.get(subscription);
  }

  #note(delivery: Delivery, { status, error }: PostResult, outcome: AttemptOutcome): void {
    const { event, subscription, attempts } = delivery;
    const at = isoTime(this.#options.clock.nowMs());
    const { id: eventId, type } = event;
    this.history.add({ eventId, type, subscription, attempt: attempts, at, status, error, outcome });
  }

  #move(): void {
    const waiting = this.#onMove;
    this.#onMove = [];
    for (const wake of waiting) wake();
  }
}

const unsent: PostResult = { status: null, error: null };

function newDelivery(event: SandboxEvent, body: Buffer, subscription: number): Delivery {
  return { event, body, subscription, attempts: 0 };
}
