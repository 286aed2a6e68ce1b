import { MirrorError } from "../../../src/base/errors.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Random } from "../../../src/base/random.ts";
import type { Fault } from "./faults/fault.ts";
import type { LimiterKind } from "./service/limiter.ts";
import type { DeliveryShares } from "./webhooks/delivery-faults.ts";

export type RecordCount = "small" | "medium" | number;

export interface SandboxOptions {
  /** 0 takes a free one. */
  readonly port?: number;
  readonly seed?: number;
  /** Documents over all five kinds; everything else in proportion. */
  readonly records?: RecordCount;
  readonly limit?: number;
  readonly windowMs?: number;
  readonly limiter?: LimiterKind;
  readonly latencyMs?: number | readonly [number, number];
  readonly clock?: Clock;
  readonly random?: Random;
  readonly companies?: number;
  readonly faults?: readonly Fault[];
  readonly language?: string;
  /** `YYYY-MM-DD`; seeds and statuses hang on it, and it does not move by itself. */
  readonly today?: string;
  /** The origin that URLs inside answers name; `self` for the sandbox's own. */
  readonly publicOrigin?: string;
  /** Do lists of price-list items split the stock by warehouse? The reference says yes; `false` leaves it to the record. */
  readonly stocksInLists?: boolean;
  /** Subscriptions may point to this machine; so they may where `webhooks` are given, unless this says no. */
  readonly allowLoopbackWebhooks?: boolean;
  /** Active subscriptions of the first company, from the start. */
  readonly webhooks?: readonly WebhookWish[];
  /** What goes wrong on the way to receivers. */
  readonly deliveries?: Partial<DeliveryShares>;
  /** Waits between attempts, as a multiple of the service's; 0.001 makes 10 s into 10 ms. */
  readonly retryScale?: number;
  /** How long a receiver may take (default 10 s). */
  readonly deliveryTimeoutMs?: number;
  /** Deliveries to one subscription at once (default 8); 1 keeps them strictly in order. */
  readonly deliveryConcurrency?: number;
}

export interface WebhookWish {
  readonly url: string;
  /** Made up from the seed when it is not given. */
  readonly secret?: string;
  /** All there are when not given. */
  readonly events?: readonly string[];
}

const sizes = { small: 60, medium: 5_000 };

export function documentCount(records: RecordCount): number {
  return typeof records === "number" ? records : sizes[records];
}

/** `small`, `medium` or a number. */
export function parseRecords(text: string): RecordCount {
  if (text === "small" || text === "medium") return text;
  const count = Number(text.replaceAll(/[_ ]/g, ""));
  if (text.trim() !== "" && Number.isInteger(count) && count >= 0 && count <= 1_000_000) return count;
  throw new MirrorError("usage", `records "${text}" is not a number of documents`, {
    hint: "write small (60 documents), medium (5,000) or a whole number up to 1,000,000",
  });
}
