import { MirrorError } from "../../../src/base/errors.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Random } from "../../../src/base/random.ts";
import type { Fault } from "./faults/fault.ts";
import type { LimiterKind } from "./service/limiter.ts";

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
  /** Subscriptions may point to this machine. */
  readonly allowLoopbackWebhooks?: boolean;
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
