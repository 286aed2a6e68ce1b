import type { Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import type { RetryPolicy } from "../retry/retry-policy.ts";

/** How the engine works, and what ends it. */
export interface EngineOptions {
  readonly transport: Transport;
  /** Requests in flight at a time. */
  readonly concurrency: number;
  readonly policy: RetryPolicy;
  /** Ends it at once: aborts waiting and requests in flight; what was committed stays. */
  readonly signal: AbortSignal;
  /** Ends it when requests in flight are done, or after `graceMs`: no new ones begin. */
  readonly closed: AbortSignal;
  /** Called between reads once in a minute, and before the work ends. Returns whether it queued more. */
  readonly refresh?: () => Promise<boolean>;
  /** Called when a page of a list was applied, or its failure. */
  readonly afterPage?: () => void;
}

/** How a run or an event worker uses the engine. */
export interface WorkOptions extends Pick<EngineOptions, "concurrency" | "signal" | "closed"> {
  readonly resources: readonly Resource[];
  /** How long requests in flight may take after `closed`, ms. */
  readonly graceMs: number;
}
