import type { Clock } from "../../../src/base/clock.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import type { Random } from "../../../src/base/random.ts";
import type { Fault } from "./service/faults.ts";
import type { LimiterOptions } from "./service/limiter.ts";
import type { SenderOptions } from "./webhooks/sender.ts";

/** 60 documents, 5,000, or a number of them. */
type RecordCount = "small" | "medium" | number;

/** What the made-up companies hold. */
interface BooksOptions {
  /** @default 1 */
  readonly seed?: number;
  /** Documents over all five kinds; everything else in proportion. @default "small" */
  readonly records?: RecordCount;
  /** @default 1 */
  readonly companies?: number;
  /** Of answers to requests that name none. @default "en" */
  readonly language?: string;
  /** `YYYY-MM-DD`; seeds and statuses depend on it, and it does not move by itself. @default the clock's day */
  readonly today?: string;
  /** The origin of URLs inside answers; `self` for the sandbox's own. @default one that no name server knows */
  readonly publicOrigin?: string;
  /** Lists of price-list items show the stock by warehouse, as the reference says. @default true */
  readonly stocksInLists?: boolean;
}

/** What a sandbox is started with; of the limiter the interface's 120 requests in a fixed window of a minute. */
export interface SandboxOptions extends BooksOptions, SenderOptions, Partial<Omit<LimiterOptions, "kind">> {
  readonly limiter?: LimiterOptions["kind"];
  /** 0 takes a free one. @default 0 */
  readonly port?: number;
  /** Of every answer, or from and to. @default 0 */
  readonly latencyMs?: number | readonly [number, number];
  readonly clock?: Clock;
  readonly random?: Random;
  readonly faults?: readonly Fault[];
  /** Subscriptions may point to this machine. @default true where `webhooks` are given */
  readonly allowLoopbackWebhooks?: boolean;
  /** Active subscriptions of the first company, from the start. */
  readonly webhooks?: readonly FirstSubscription[];
}

/** A subscription that is there from the start. */
export interface FirstSubscription {
  readonly url: string;
  /** Made up from the seed where it is absent. */
  readonly secret?: string;
  /** All there are where it is absent. */
  readonly events?: readonly string[];
}

const sizes = { small: 60, medium: 5_000 };

/** The number of documents. */
export function documentCount(records: RecordCount): number {
  return typeof records === "number" ? records : sizes[records];
}

/**
 * `small`, `medium` or a number.
 *
 * @throws MirrorError `usage` for anything else
 */
export function parseRecords(text: string): RecordCount {
  if (text === "small" || text === "medium") return text;
  const count = Number(text.replaceAll(/[_ ]/g, ""));
  if (text.trim() !== "" && Number.isInteger(count) && count >= 0 && count <= 1_000_000) return count;
  throw new MirrorError("usage", `records "${text}" is not a number of documents`, {
    hint: "write small (60 documents), medium (5,000) or a whole number up to 1,000,000",
  });
}
