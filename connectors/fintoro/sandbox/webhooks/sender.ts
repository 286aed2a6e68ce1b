import { createHmac } from "node:crypto";
import { EventEmitter, once, setMaxListeners } from "node:events";
import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { isoTime, systemClock, type Clock } from "../../../../src/base/clock.ts";
import { Semaphore } from "../../../../src/base/semaphore.ts";
import { SeededRandom } from "../base/seeded-random.ts";
import { BoundedLog } from "../base/values.ts";
import type { Company, SandboxEvent } from "../model/company-state.ts";
import { DeliveryFaults, type DeliveryShares } from "./delivery-faults.ts";

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

/** The receiver's status, or why there is none. */
interface PostResult {
  readonly status: number | null;
  readonly error: string | null;
}

/** One attempt and how it ended; `attempt` counts from 1, and is 0 for what was lost or dropped before any. */
interface Attempt extends PostResult {
  readonly eventId: string;
  readonly type: string;
  readonly subscription: number;
  readonly attempt: number;
  readonly at: string;
  readonly outcome: AttemptOutcome;
}

/** Between attempts 1-2, 2-3, 3-4, 4-5 (interface document). */
const retryDelaysMs = [10_000, 100_000, 1_000_000, 10_000_000];
const jitterShare = 0.05;

/** From the change to the first attempt: usually after the answer to the client that made the change. */
const firstDelayMs = 5;

/**
 * Sends a company's events to its subscriptions as the interface document promises: at least once, five
 * attempts each. Deliveries wait in memory and end with the sandbox.
 */
export class Sender {
  /** The newest 50,000 attempts. */
  readonly attempts = new BoundedLog<Attempt>(50_000);
  readonly faults: DeliveryFaults;
  readonly #company: Company;
  readonly #options: SenderOptions;
  readonly #jitter: SeededRandom;
  readonly #turns = new Map<number, Semaphore>();
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
    this.#ended.emit("attempt");
  }

  #accept(event: SandboxEvent): void {
    const body = Buffer.from(JSON.stringify(event));
    for (const { id, isActive, subscribedEvents } of this.#company.tables.webhook_subscriptions.values()) {
      if (!isActive || !subscribedEvents.includes(event.type)) continue;
      const heldMs = this.faults.next();
      const copies = heldMs.map((ms) => ({ ms, delivery: { event, body, subscription: id, attempts: 0 } }));
      if (copies.length === 0) this.#record({ event, body, subscription: id, attempts: 0 }, "lost");
      for (const { ms, delivery } of copies) {
        this.#pending.set(delivery, 0);
        void this.#deliver(delivery, firstDelayMs + ms)
          .catch(this.#options.onBug)
          .finally(() => this.#pending.delete(delivery));
      }
    }
  }

  /** Tries a delivery until it succeeds, is dropped, or has had all its attempts. */
  async #deliver(delivery: Delivery, firstWaitMs: number): Promise<void> {
    const { clock, retryScale, concurrency } = this.#options;
    const { signal } = this.#closing;
    const turn = this.#turns.get(delivery.subscription) ?? new Semaphore(concurrency);
    this.#turns.set(delivery.subscription, turn);
    await systemClock.sleep(firstWaitMs, signal);
    for (;;) {
      const release = await turn.acquire(signal);
      const delayMs = signal.aborted ? undefined : await this.#attempt(delivery);
      const waitMs = (delayMs ?? 0) * retryScale * (1 + jitterShare * (2 * this.#jitter.next() - 1));
      if (delayMs === undefined) this.#pending.delete(delivery);
      else this.#pending.set(delivery, clock.monotonicMs() + waitMs);
      release?.();
      this.#ended.emit("attempt");
      if (delayMs === undefined) return;
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      this.#pending.set(delivery, 0);
    }
  }

  /** Uses the subscription as it is now: its URL and its current secret. Gives the wait for the next attempt. */
  async #attempt(delivery: Delivery): Promise<number | undefined> {
    const { webhook_subscriptions: subscriptions } = this.#company.tables;
    const known = subscriptions.get(delivery.subscription);
    if (!known?.isActive) return this.#record(delivery, "dropped");
    const { event, body } = delivery;
    const { nowMs } = this.#company;
    const headers = {
      "content-type": "application/json",
      "webhook-id": event.id,
      "webhook-timestamp": String(Math.floor(nowMs() / 1000)),
      "webhook-signature": createHmac("sha256", known.secret).update(body).digest("hex"),
    };
    const { signal: closing } = this.#closing;
    const result = await sendPost({
      url: known.url,
      headers,
      body,
      timeoutMs: this.#options.timeoutMs,
      closing,
    });
    if (closing.aborted) return undefined;
    delivery.attempts++;
    const { status } = result;
    const succeeded = status !== null && status >= 200 && status < 300;
    const delayMs = succeeded ? undefined : retryDelaysMs[delivery.attempts - 1];
    this.#record(delivery, succeeded ? "delivered" : delayMs === undefined ? "failed" : "retry", result);
    const stamp = succeeded ? { lastSuccessAtMs: nowMs() } : { lastFailureAtMs: nowMs() };
    const after = subscriptions.get(delivery.subscription);
    if (after) subscriptions.replace({ ...after, ...stamp });
    return delayMs;
  }

  #record(delivery: Delivery, outcome: AttemptOutcome, result: PostResult = { status: null, error: null }) {
    const { event, subscription, attempts: attempt } = delivery;
    const at = isoTime(this.#company.nowMs());
    this.attempts.add({ eventId: event.id, type: event.type, subscription, attempt, at, ...result, outcome });
    return undefined;
  }
}

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For all of one request, to the end of its answer. */
  readonly timeoutMs: number;
  /** Aborts what is under way. */
  readonly closing: AbortSignal;
}

/** Sends one POST; follows no redirect. `isAgain`: a kept connection was closed as the request went out. */
function sendPost(post: Post, isAgain = false): Promise<PostResult> {
  const { url, body, timeoutMs, closing } = post;
  const late = AbortSignal.timeout(timeoutMs);
  const headers = { ...post.headers, "content-length": String(body.length) };
  const send = url.startsWith("https:") ? tlsRequest : plainRequest;
  const request = send(url, { method: "POST", headers, signal: AbortSignal.any([closing, late]) });
  return new Promise((resolve) => {
    const fail = ({ message }: Error) =>
      resolve({ status: null, error: late.aborted ? `no answer within ${timeoutMs} ms` : message });
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (!isAgain && request.reusedSocket && error.code === "ECONNRESET") resolve(sendPost(post, true));
      else fail(error);
    });
    request.on("response", (response) => {
      response.on("end", () => resolve({ status: response.statusCode ?? 0, error: null }));
      response.on("error", fail);
      response.resume();
    });
    request.end(body);
  });
}
