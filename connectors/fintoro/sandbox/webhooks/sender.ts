import { createHmac } from "node:crypto";
import { setMaxListeners } from "node:events";
import { isoTime, systemClock, type Clock } from "../../../../src/base/clock.ts";
import { messageOf, MirrorError } from "../../../../src/base/errors.ts";
import { Semaphore } from "../../../../src/base/semaphore.ts";
import { randomFor } from "../base/seeded-random.ts";
import { boundedLog } from "../base/values.ts";
import type { Company, SentEvent } from "../model/company.ts";

/** Shares from 0 to 1 of what goes wrong between the service and its receivers. */
interface DeliveryShares {
  /** Sent a second time, a moment later. */
  readonly duplicates: number;
  readonly losses: number;
  /** Held back while later ones overtake. */
  readonly reorder: number;
}

export interface SenderOptions {
  readonly deliveries?: Partial<DeliveryShares>;
  /** Waits between attempts as a multiple of the service's; 0.001 makes 10 s into 10 ms. @default 1 */
  readonly retryScale?: number;
}

/** One event on its way to one subscription; `attempts` are those made. */
interface SentCopy {
  readonly event: SentEvent;
  readonly body: Buffer<ArrayBuffer>;
  readonly subscription: number;
  attempts: number;
}

/** One attempt and how it ended; `attempt` counts from 1, and is 0 for what was lost or dropped before any. */
interface DeliveryAttempt {
  readonly eventId: string;
  readonly type: string;
  readonly subscription: number;
  readonly attempt: number;
  readonly at: string;
  /** The receiver's status, or why there is none. */
  readonly status: number | null;
  readonly error: string | null;
  /**
   * `retry`: another attempt follows. `failed`: that was the last one. `lost`: a delivery fault, never sent.
   * `dropped`: the subscription was deactivated or deleted while the delivery waited.
   */
  readonly outcome: "delivered" | "retry" | "failed" | "lost" | "dropped";
}

type PostResult = Pick<DeliveryAttempt, "status" | "error">;

/** Between attempts 1-2, 2-3, 3-4, 4-5 (interface document). */
const retryDelaysMs = [10_000, 100_000, 1_000_000, 10_000_000];
/** How long a receiver may take, to the end of its answer. */
const timeoutMs = 10_000;
/** Deliveries to one subscription at once. */
const concurrency = 8;
/** From the change to the first attempt: usually after the answer to the client that made the change. */
const firstDelayMs = 5;

/**
 * Sends a company's events to its subscriptions as the interface document promises: at least once, five
 * attempts each. Deliveries wait in memory and end with the sandbox.
 */
export class Sender {
  readonly attempts = boundedLog<DeliveryAttempt>(50_000);
  private accepted = 0;
  private readonly parts: ConstructorParameters<typeof Sender>[0];
  private readonly turns = new Map<number, Semaphore>();
  /** Deliveries without an end, and when their next attempt is due on the clock; 0 for at once. */
  private readonly pending = new Map<SentCopy, number>();
  private readonly closing = new AbortController();
  private readonly unsubscribe: () => void;

  /** @param parts.onBug receives bugs of the sandbox itself */
  constructor(parts: {
    readonly company: Company;
    readonly seed: number;
    readonly clock: Clock;
    readonly options: SenderOptions;
    readonly onBug: (cause: unknown) => void;
  }) {
    this.parts = parts;
    setMaxListeners(0, this.closing.signal);
    this.unsubscribe = parts.company.events.subscribe((event) => this.accept(event));
  }

  /** Deliveries that are neither delivered nor given up; without retries due later than `ms` from now. */
  pendingWithin(ms: number): number {
    const untilMs = this.parts.clock.monotonicMs() + ms;
    return [...this.pending.values()].filter((dueMs) => dueMs <= untilMs).length;
  }

  close(): void {
    this.unsubscribe();
    this.closing.abort();
    this.pending.clear();
  }

  private accept(event: SentEvent): void {
    const body = Buffer.from(JSON.stringify(event));
    const { company, seed, options, onBug } = this.parts;
    for (const { id, isActive, subscribedEvents } of company.tables.webhook_subscriptions.values()) {
      if (!isActive || !subscribedEvents.includes(event.type)) continue;
      const copyOf = (): SentCopy => ({ event, body, subscription: id, attempts: 0 });
      const held = heldCopies(seed, this.accepted++, options.deliveries ?? {});
      if (held.length === 0) this.record(copyOf(), "lost");
      for (const ms of held) {
        const copy = copyOf();
        this.pending.set(copy, 0);
        void this.deliver(copy, firstDelayMs + ms)
          .catch(onBug)
          .finally(() => this.pending.delete(copy));
      }
    }
  }

  /** Tries a delivery until it succeeds, is dropped, or has had all its attempts. */
  private async deliver(copy: SentCopy, firstWaitMs: number): Promise<void> {
    const { clock, options } = this.parts;
    const { retryScale = 1 } = options;
    const { signal } = this.closing;
    const turn = this.turns.get(copy.subscription) ?? new Semaphore(concurrency);
    this.turns.set(copy.subscription, turn);
    await systemClock.sleep(firstWaitMs, signal);
    for (;;) {
      const release = await turn.acquire(signal);
      const delayMs = signal.aborted ? undefined : await this.attempt(copy);
      const waitMs = (delayMs ?? 0) * retryScale;
      if (delayMs === undefined) this.pending.delete(copy);
      else this.pending.set(copy, clock.monotonicMs() + waitMs);
      release?.();
      if (delayMs === undefined) return;
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      this.pending.set(copy, 0);
    }
  }

  /** Uses the subscription as it is now: its URL and its current secret. Gives the wait for the next attempt. */
  private async attempt(copy: SentCopy): Promise<number | undefined> {
    const { company } = this.parts;
    const { webhook_subscriptions: subscriptions } = company.tables;
    const known = subscriptions.get(copy.subscription);
    if (!known?.isActive) return this.record(copy, "dropped");
    const headers = {
      "content-type": "application/json",
      "webhook-id": copy.event.id,
      "webhook-timestamp": String(Math.floor(company.nowMs() / 1000)),
      "webhook-signature": createHmac("sha256", known.secret).update(copy.body).digest("hex"),
    };
    const result = await sendPost(known.url, headers, copy.body, this.closing.signal);
    if (this.closing.signal.aborted) return undefined;
    copy.attempts++;
    const { status } = result;
    const succeeded = status !== null && status >= 200 && status < 300;
    const delayMs = succeeded ? undefined : retryDelaysMs[copy.attempts - 1];
    this.record(copy, succeeded ? "delivered" : delayMs === undefined ? "failed" : "retry", result);
    const atMs = company.nowMs();
    const after = subscriptions.get(copy.subscription);
    const stamp = succeeded ? { lastSuccessAtMs: atMs } : { lastFailureAtMs: atMs };
    if (after) subscriptions.replace({ ...after, ...stamp });
    return delayMs;
  }

  private record(
    { event, subscription, attempts: attempt }: SentCopy,
    outcome: DeliveryAttempt["outcome"],
    result: PostResult = { status: null, error: null },
  ): undefined {
    const at = isoTime(this.parts.company.nowMs());
    this.attempts.add({ eventId: event.id, type: event.type, subscription, attempt, at, ...result, outcome });
  }
}

/** Sends one POST on a connection of its own; follows no redirect. */
async function sendPost(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer<ArrayBuffer>,
  closing: AbortSignal,
): Promise<PostResult> {
  const late = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([closing, late]);
  const own = { ...headers, connection: "close" };
  try {
    const response = await fetch(url, { method: "POST", redirect: "manual", headers: own, body, signal });
    await response.arrayBuffer();
    return { status: response.status, error: null };
  } catch (cause) {
    const error = late.aborted
      ? `no answer within ${timeoutMs} ms`
      : messageOf((cause as Error).cause ?? cause);
    return { status: null, error };
  }
}

/**
 * Decides what goes wrong with each delivery: with the n-th of a company the same for the same seed and shares.
 * Gives how long each copy is held back, ms; no copy for one that is lost.
 */
function heldCopies(seed: number, count: number, shares: Partial<DeliveryShares>): readonly number[] {
  const { losses = 0, duplicates = 0, reorder = 0 } = shares;
  const random = randomFor(seed, "delivery", count);
  if (random.often(losses)) return [];
  const isDoubled = random.often(duplicates);
  const heldMs = () => random.int(20, 250);
  const first = random.often(reorder) ? heldMs() : 0;
  return isDoubled ? [first, heldMs()] : [first];
}

/** `duplicates:0.2,losses:0.2,reorder:0.5` -> shares. @throws MirrorError `usage` for anything else */
export function parseShares(text: string): Partial<DeliveryShares> {
  const parts = text.split(",").map((part) => part.trim());
  return Object.fromEntries(parts.filter((part) => part !== "").map(parseShare));
}

function parseShare(part: string): [string, number] {
  const [, name = "", share = "2"] = /^(duplicates|losses|reorder):([\d.]+)$/.exec(part) ?? [];
  if (Number(share) <= 1) return [name, Number(share)];
  throw new MirrorError("usage", `webhook fault "${part}" cannot be read`, {
    hint: "write shares from 0 to 1 of duplicates, losses and reorder: duplicates:0.2,losses:0.1,reorder:0.5",
  });
}
